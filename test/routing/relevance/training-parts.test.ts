import { Worker } from 'node:worker_threads';
import { expect, it, vi } from 'vitest';
import type { CapabilityName } from '../../../src/core/index.ts';
import { HeadTrainer } from '../../../src/routing/index.ts';
import { indexedCapability } from '../../../src/routing/indexed-capability.ts';
import type { PhraseClass } from '../../../src/routing/relevance/phrase-head.ts';
import { partsOf, type TrainingTask, TrainingTaskReader } from '../../../src/routing/relevance/training-parts.ts';
import { CALIBRATION } from '../router-rig.ts';

/** `count` capabilities with one to five phrases each, and vectors that no two texts share. */
function taskOf(count: number, hasRegistry = true): TrainingTask {
  let next = 0;
  const vector = (): Float32Array => Float32Array.of(++next, next / 2, -next);
  const classes: PhraseClass[] = Array.from({ length: count }, (_, at) => ({
    name: `text.find.thing_${at}`,
    phrases: Array.from({ length: 1 + (at % 5) }, vector),
    anchors: at % 3 === 0 ? [] : [vector()],
  }));
  if (!hasRegistry) return { classes };
  const entries = classes.map(({ name }) =>
    indexedCapability({
      ...{ namespace: 'default', name: name as CapabilityName, sensitive: false, aliases: [] },
      ...{ descriptions: [`finds ${name}`], examples: [] },
    } as never),
  );
  const hashes = entries.flatMap(({ texts }) => texts.map(({ hash }) => hash as string));
  return {
    classes,
    registry: { entries, vectors: new Map(hashes.map((one) => [one, vector()])), calibration: CALIBRATION },
  };
}

/** As the thread gets it. */
function sent(task: TrainingTask): { readonly parts: number; readonly read: TrainingTask | undefined } {
  const reader = new TrainingTaskReader();
  let read: TrainingTask | undefined;
  let parts = 0;
  for (const part of partsOf(task)) {
    expect(read).toBeUndefined();
    parts++;
    read = reader.read(structuredClone(part));
  }
  return { parts, read };
}

it.each([0, 1, 64, 65, 700])('a task of %i capabilities arrives as it was sent', (count) => {
  for (const task of [taskOf(count), taskOf(count, false)]) expect(sent(task).read).toEqual(task);
});

it('a large task comes in many parts, none of them large', () => {
  const task = taskOf(700);
  for (const part of partsOf(task)) {
    if ('rows' in part) expect(part.rows.length).toBeLessThanOrEqual(512 * 3);
    if (part.kind === 'entries') expect(part.entries.length).toBeLessThanOrEqual(16);
  }
  expect(sent(task).parts).toBeGreaterThan(50);
});

it('is handed to its thread in one part a turn of the event loop', async () => {
  const posted = vi.spyOn(Worker.prototype, 'postMessage');
  const trainer = new HeadTrainer();
  const training = trainer.train(taskOf(700));
  training.catch(() => {});
  const after: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    after.push(posted.mock.calls.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  trainer.stop();
  await expect(training).rejects.toMatchObject({ code: 'AR_ERR_INTERNAL' });
  posted.mockRestore();
  expect(after.at(-1)).toBeGreaterThan(5);
  for (const [turn, count] of after.entries()) expect(count - (after[turn - 1] ?? 0)).toBeLessThanOrEqual(1);
});
