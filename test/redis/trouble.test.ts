import { expect, test } from 'vitest';
import { Trouble } from '../../src/redis/index.ts';

const GRACE_MS = 35_000;

test('silence counts again as long after a trouble as it lasted, and a moment, at most the grace', () => {
  const trouble = new Trouble();
  expect(trouble.deafUntil(0, GRACE_MS)).toBe(Number.NEGATIVE_INFINITY);
  trouble.begin(1_000);
  trouble.begin(3_000);
  expect(trouble.deafUntil(4_000, GRACE_MS)).toBe(4_000 + 5_000);
  trouble.end(7_000);
  trouble.end(9_000);
  expect(trouble.deafUntil(100_000, GRACE_MS)).toBe(7_000 + 8_000);
  trouble.begin(200_000);
  trouble.end(400_000);
  expect(trouble.deafUntil(400_000, GRACE_MS)).toBe(400_000 + GRACE_MS);
});

test('short troubles that come again and again spare nobody for ever', () => {
  const trouble = new Trouble();
  let judgedMs = 0;
  for (let now = 0; now < 600_000; now += 100) {
    if (now % 30_000 === 0) trouble.begin(now);
    if (now % 30_000 === 1_000) trouble.end(now);
    if (now >= trouble.deafUntil(now, GRACE_MS)) judgedMs += 100;
  }
  expect(judgedMs).toBeGreaterThan(500_000);
});
