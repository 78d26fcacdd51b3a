import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { DeadlineQueue } from '../../src/registry/deadline-queue.ts';

test('hands over the keys a plain list would, in order, whatever was set, moved and deleted', () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 9 }).map(String),
    inMs: fc.integer({ min: 0, max: 50 }),
    deletes: fc.boolean(),
    thenMs: fc.integer({ min: 0, max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new ManualClock();
      const due: { key: string; at: number }[] = [];
      const queue = new DeadlineQueue({ clock, onDue: (key) => due.push({ key, at: clock.now() }) });
      const model = new Map<string, number>();
      const expected: { key: string; at: number }[] = [];
      for (const { key, inMs, deletes, thenMs } of steps) {
        if (deletes) {
          queue.delete(key);
          model.delete(key);
        } else {
          queue.set(key, clock.now() + inMs);
          model.set(key, clock.now() + inMs);
        }
        clock.advance(thenMs);
        for (const [other, at] of [...model].sort((a, b) => a[1] - b[1])) {
          if (at > clock.now()) continue;
          expected.push({ key: other, at });
          model.delete(other);
        }
        expect(queue.size).toBe(model.size);
      }
      const byTime = (a: { key: string; at: number }, b: { key: string; at: number }): number =>
        a.at - b.at || a.key.localeCompare(b.key);
      expect([...due].sort(byTime)).toEqual(expected.sort(byTime));
      expect(due.map(({ at }) => at)).toEqual(due.map(({ at }) => at).sort((a, b) => a - b));
    }),
  );
});

test('keeps one timer for ten thousand keys, also while all are renewed', () => {
  const clock = new ManualClock();
  const queue = new DeadlineQueue({ clock, onDue: () => undefined });
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10_000; i++) queue.set(`k${i}`, clock.now() + 90_000);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(30_000);
  }
  expect(queue.size).toBe(10_000);
});

test('hands over a bounded number a turn and the rest in the next', () => {
  const clock = new ManualClock();
  const handed: string[] = [];
  const turns: number[] = [];
  const watched = {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    schedule: (delayMs: number, task: () => void) =>
      clock.schedule(delayMs, () => {
        const before = handed.length;
        task();
        turns.push(handed.length - before);
      }),
  };
  const queue = new DeadlineQueue({ clock: watched, onDue: (key) => handed.push(key), batch: 4 });
  for (let i = 0; i < 10; i++) queue.set(`k${i}`, 5);
  clock.advance(5);
  expect(handed).toHaveLength(10);
  expect(turns).toEqual([4, 4, 2]);
});

test('takes a key that sets itself again, and nothing after stop', () => {
  const clock = new ManualClock();
  let calls = 0;
  const queue: DeadlineQueue = new DeadlineQueue({
    clock,
    onDue: (key) => {
      calls += 1;
      queue.set(key, clock.now() + 10);
    },
  });
  queue.set('a', 10);
  clock.advance(35);
  expect(calls).toBe(3);
  queue.stop();
  clock.advance(100);
  expect(calls).toBe(3);
  expect(clock.pendingTimers).toBe(0);
});
