import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { FileWatch } from '../../src/app/file-watch.ts';
import { type Clock, ManualClock, systemClock } from '../../src/core/index.ts';

const root = mkdtempSync(join(tmpdir(), 'agent-reach-watch-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function watched(clock: Clock) {
  folders += 1;
  const folder = join(root, String(folders));
  mkdirSync(folder);
  const path = join(folder, 'file.yaml');
  writeFileSync(path, 'one');
  let changes = 0;
  let waiting: (() => void)[] = [];
  const watch = new FileWatch({
    path,
    clock,
    onChange: () => {
      changes += 1;
      for (const go of waiting) go();
      waiting = [];
    },
  });
  watch.start();
  onTestFinished(() => watch.stop());
  return {
    folder,
    path,
    watch,
    changes: () => changes,
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}

describe('a watched file', () => {
  it('is looked at every 10 s, for file systems that tell of nothing, until the watch is stopped', () => {
    const clock = new ManualClock();
    const { changes, watch } = watched(clock);
    clock.advance(9_999);
    expect(changes()).toBe(0);
    clock.advance(1);
    expect(changes()).toBe(1);
    clock.advance(20_000);
    expect(changes()).toBe(3);
    watch.stop();
    clock.advance(60_000);
    expect([changes(), clock.pendingTimers]).toEqual([3, 0]);
  });

  it('is followed when its folder is replaced by another one, again and again', async () => {
    const { folder, path, next } = watched(systemClock);
    for (const name of ['a', 'b', 'c']) {
      mkdirSync(`${folder}-${name}`);
      writeFileSync(join(`${folder}-${name}`, 'file.yaml'), name);
      const replaced = next();
      renameSync(folder, `${folder}-${name}-before`);
      renameSync(`${folder}-${name}`, folder);
      await replaced;
      const changed = next();
      writeFileSync(path, `${name} again`);
      await changed;
    }
  });

  it('is told of once for a burst of writes, once they rest', async () => {
    const { path, changes, next } = watched(systemClock);
    const told = next();
    for (let i = 0; i < 50; i++) writeFileSync(path, String(i));
    await told;
    expect(changes()).toBe(1);
  });

  it('may be missing at first, with its folder', async () => {
    folders += 1;
    const folder = join(root, String(folders));
    let resolve = (): void => undefined;
    const told = new Promise<void>((done) => {
      resolve = done;
    });
    const watch = new FileWatch({ path: join(folder, 'file.yaml'), clock: systemClock, onChange: () => resolve() });
    watch.start();
    onTestFinished(() => watch.stop());
    mkdirSync(folder);
    writeFileSync(join(folder, 'file.yaml'), 'new');
    await told;
  });
});
