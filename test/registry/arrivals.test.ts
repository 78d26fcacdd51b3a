import { expect, test } from 'vitest';
import { nextTurn } from '../../src/core/index.ts';
import { Arrivals } from '../../src/registry/arrivals.ts';

test('few of a burst begin in one turn, in order, and the first at once', async () => {
  const arrivals = new Arrivals();
  const begun: number[] = [];
  const all = Promise.all(Array.from({ length: 7 }, (_, i) => arrivals.begin().then(() => begun.push(i))));
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  await nextTurn();
  expect(begun.length).toBeLessThanOrEqual(4);
  await all;
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  // Nobody waits any more: the next one does not either.
  await nextTurn();
  await nextTurn();
  let isBegun = false;
  void arrivals.begin().then(() => {
    isBegun = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  expect(isBegun).toBe(true);
});

test('few are stored at once, each as soon as there is room, also after one that failed', async () => {
  const arrivals = new Arrivals();
  let running = 0;
  let most = 0;
  const stored: number[] = [];
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, (_, i) =>
      arrivals.store(async () => {
        running += 1;
        most = Math.max(most, running);
        await nextTurn();
        running -= 1;
        if (i % 3 === 0) throw new Error('refused');
        stored.push(i);
        return i;
      }),
    ),
  );
  expect(most).toBe(16);
  expect(running).toBe(0);
  expect(stored).toEqual(Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 3 !== 0));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(34);
  expect(await arrivals.store(async () => 'again')).toBe('again');
});
