import type { ChildProcess } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock, subscribe } from '../../src/core/index.ts';
import {
  type Embedder,
  type EmbedderHealth,
  modelById,
  TransformersEmbedder,
  type TransformersEmbedderOptions,
} from '../../src/embedding/index.ts';

/** Everything that can go wrong with the process, with real ones that do as they are told and a clock by hand. */
const model = { ...modelById('zh-en-small'), dimensions: 2 };
const open: Embedder[] = [];
const workers: ChildProcess[] = [];

function makeEmbedder(options: Partial<TransformersEmbedderOptions> = {}): {
  embedder: TransformersEmbedder;
  clock: ManualClock;
} {
  const clock = new ManualClock();
  const embedder = new TransformersEmbedder({
    model,
    clock,
    workerModule: new URL('./scripted-worker.js', import.meta.url),
    onWorker: (worker) => workers.push(worker),
    ...options,
  });
  open.push(embedder);
  return { embedder, clock };
}

async function startEmbedder(options: Partial<TransformersEmbedderOptions> = {}) {
  const made = makeEmbedder(options);
  await made.embedder.start();
  return made;
}

function stateOf(embedder: Embedder, state: EmbedderHealth['state']): Promise<EmbedderHealth> {
  return new Promise((resolve) => {
    const listen = (health: EmbedderHealth): void => {
      if (health.state !== state) return;
      unlisten();
      resolve(health);
    };
    const unlisten = embedder.onHealth(listen);
    listen(embedder.health);
  });
}

/** The batch is on its way to the process when its texts no longer wait. */
async function untilTaken(embedder: TransformersEmbedder): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (embedder.waitingTexts > 0);
}

const query = (embedder: Embedder, ...texts: string[]): Promise<Float32Array[]> =>
  embedder.embed(texts, { kind: 'query' });
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error) => error.code,
  );

afterEach(async () => {
  await Promise.all(open.splice(0).map((embedder) => embedder.stop()));
  workers.length = 0;
});

describe('a process that breaks', () => {
  it('degrades on a crash, rejects what ran and what waited, and heals by itself', async () => {
    const { embedder, clock } = await startEmbedder();
    const running = codeOf(query(embedder, 'crash'));
    await untilTaken(embedder);
    const waiting = codeOf(query(embedder, 'innocent'));
    expect(await running).toBe('AR_ERR_MODEL_UNUSABLE');
    expect(await waiting).toBe('AR_ERR_MODEL_UNUSABLE');
    expect(embedder.health).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('SIGSEGV'),
      retryAt: 500,
    });
    expect(await codeOf(query(embedder, 'while degraded'))).toBe('AR_ERR_MODEL_UNUSABLE');
    clock.advance(499);
    expect(workers).toHaveLength(1);
    clock.advance(1);
    await stateOf(embedder, 'ready');
    expect(await query(embedder, 'after')).toEqual([Float32Array.of(2, 0)]);
    expect(workers).toHaveLength(2);
  });

  it('degrades when the process is killed from outside or exits', async () => {
    const { embedder, clock } = await startEmbedder();
    workers[0]?.kill('SIGKILL');
    expect(await stateOf(embedder, 'degraded')).toMatchObject({ reason: expect.stringContaining('SIGKILL') });
    clock.advance(500);
    await stateOf(embedder, 'ready');
    expect(await codeOf(query(embedder, 'exit'))).toBe('AR_ERR_MODEL_UNUSABLE');
    expect(embedder.health).toMatchObject({ state: 'degraded', reason: expect.stringContaining('code 3') });
  });

  it('replaces a process that hangs past its limit, and not before', async () => {
    const { embedder, clock } = await startEmbedder({ runTimeoutMs: 10_000 });
    const hung = codeOf(query(embedder, 'hang'));
    await untilTaken(embedder);
    clock.advance(9_999);
    expect(embedder.health.state).toBe('ready');
    clock.advance(1);
    expect(await hung).toBe('AR_ERR_MODEL_UNUSABLE');
    expect(embedder.health).toMatchObject({ state: 'degraded', reason: expect.stringContaining('10000 ms') });
    clock.advance(500);
    await stateOf(embedder, 'ready');
    expect(await query(embedder, 'after')).toHaveLength(1);
  });

  it('waits longer after each failure, up to the cap, and starts anew after a good while', async () => {
    const { embedder, clock } = await startEmbedder({ restartBaseMs: 500, restartCapMs: 1_500 });
    const waits: number[] = [];
    for (const servedMs of [0, 0, 0, 0, 1_500]) {
      clock.advance(servedMs);
      await codeOf(query(embedder, 'crash'));
      const { health } = embedder;
      if (health.state !== 'degraded' || health.retryAt === null) throw new Error(`unexpected ${health.state}`);
      waits.push(health.retryAt - clock.now());
      clock.advance(health.retryAt - clock.now());
      await stateOf(embedder, 'ready');
    }
    expect(waits).toEqual([500, 1_000, 1_500, 1_500, 500]);
  });

  it('bears refused runs, but not three in a row', async () => {
    const { embedder } = await startEmbedder();
    for (const text of ['refuse', 'refuse', 'fine', 'refuse', 'refuse']) {
      expect(await codeOf(query(embedder, text))).toBe(text === 'fine' ? 'no error' : 'AR_ERR_MODEL_UNUSABLE');
      expect(embedder.health.state).toBe('ready');
    }
    await codeOf(query(embedder, 'refuse'));
    expect(embedder.health).toMatchObject({ state: 'degraded', reason: 'told to refuse' });
  });

  it('starts degraded when the load fails, without throwing, and tries again', async () => {
    const { embedder, clock } = await startEmbedder({ model: { ...model, folder: 'no-load' } });
    expect(embedder.health).toEqual({ state: 'degraded', reason: 'told not to load', retryAt: 500 });
    clock.advance(500);
    expect(await codeOf(query(embedder, 'while it tries'))).toBe('AR_ERR_MODEL_UNUSABLE');
    await new Promise<void>((resolve) => {
      embedder.onHealth(() => resolve());
    });
    expect(embedder.health).toEqual({ state: 'degraded', reason: 'told not to load', retryAt: 1_500 });
  });

  it('gives a load up at its limit', async () => {
    const { embedder, clock } = makeEmbedder({ model: { ...model, folder: 'slow-load' }, loadTimeoutMs: 60_000 });
    const start = embedder.start();
    const waiting = codeOf(query(embedder, 'asked while it loads'));
    clock.advance(60_000);
    await start;
    expect(await waiting).toBe('AR_ERR_MODEL_UNUSABLE');
    expect(embedder.health).toMatchObject({ state: 'degraded', reason: expect.stringContaining('60000 ms') });
  });

  it('degrades when its module is missing', async () => {
    const { embedder } = await startEmbedder({
      workerModule: new URL('./no-such-worker.js', import.meta.url),
    });
    expect(embedder.health).toMatchObject({ state: 'degraded', reason: expect.stringContaining('ended with code 1') });
  });
});

describe('queue and batches', () => {
  it('embeds what is asked while the model loads', async () => {
    const { embedder } = makeEmbedder();
    const start = embedder.start();
    expect(await query(embedder, 'early')).toHaveLength(1);
    await start;
  });

  it('gathers the calls of one turn and the texts that come during a run, 16 at most', async () => {
    const { embedder } = await startEmbedder();
    const batches: number[] = [];
    const unlisten = subscribe('embedding.batch', ({ texts }) => batches.push(texts));
    const calls = Array.from({ length: 40 }, (_, index) => query(embedder, `text ${index}`));
    const places = (await Promise.all(calls)).map(([vector]) => [...(vector ?? [])]);
    unlisten();
    expect(batches).toEqual([16, 16, 8]);
    expect(places[0]).toEqual([1, 0]);
    expect(places[39]).toEqual([3, 7]);
  });

  it('embeds a text once for callers who come at once', async () => {
    const { embedder } = await startEmbedder();
    const answers = await Promise.all(Array.from({ length: 50 }, () => query(embedder, 'same')));
    expect(new Set(answers.map(([vector]) => vector)).size).toBe(1);
  });

  it('refuses what does not fit the queue and serves what does', async () => {
    const { embedder } = await startEmbedder({ maxQueuedQueries: 4 });
    const texts = Array.from({ length: 5 }, (_, index) => `text ${index}`);
    expect(await codeOf(query(embedder, ...texts))).toBe('AR_ERR_OVERLOADED');
    expect(embedder.waitingTexts).toBe(0);
    expect(await query(embedder, ...texts.slice(1))).toHaveLength(4);
  });

  it('puts the prefix of the kind before the text', async () => {
    const { embedder } = await startEmbedder({ model: { ...model, prefixes: { query: 'cra', document: '' } } });
    expect(await codeOf(query(embedder, 'sh'))).toBe('AR_ERR_MODEL_UNUSABLE');
  });
});

describe('stop', () => {
  it('lets running and queued work end and refuses new work', async () => {
    const { embedder } = await startEmbedder();
    const work = Promise.all(Array.from({ length: 40 }, (_, index) => query(embedder, `text ${index}`)));
    const stop = embedder.stop();
    expect(embedder.health.state).toBe('stopped');
    expect(await codeOf(query(embedder, 'late'))).toBe('AR_ERR_STOPPING');
    expect(await work).toHaveLength(40);
    await stop;
    expect(workers[0]?.signalCode).toBe('SIGKILL');
  });

  it('gives up on a hung run at its own limit', async () => {
    const { embedder, clock } = await startEmbedder({ stopTimeoutMs: 5_000 });
    const hung = codeOf(query(embedder, 'hang'));
    await untilTaken(embedder);
    const stop = embedder.stop();
    clock.advance(5_000);
    expect(await hung).toBe('AR_ERR_STOPPING');
    await stop;
    expect(workers[0]?.signalCode).toBe('SIGKILL');
  });

  it('ends a load and a planned restart, and leaves no timer behind', async () => {
    const loading = makeEmbedder({ model: { ...model, folder: 'slow-load' } });
    const start = loading.embedder.start();
    await loading.embedder.stop();
    await start;
    const broken = await startEmbedder();
    await codeOf(query(broken.embedder, 'crash'));
    await broken.embedder.stop();
    for (const { embedder, clock } of [loading, broken]) {
      expect(clock.pendingTimers).toBe(0);
      expect(embedder.health.state).toBe('stopped');
    }
  });
});
