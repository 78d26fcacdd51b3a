import { expect, test } from 'vitest';
import { RedisTime } from '../../src/redis/index.ts';

/** Redis's clock is ahead by that much; the answer is made half way. */
const AHEAD = 1_000_000;

function learn(time: RedisTime, askedAt: number, tookMs: number, ahead = AHEAD): void {
  time.learn(Math.floor(askedAt + tookMs / 2 + ahead), askedAt, askedAt + tookMs);
}

test('nothing is known before the first answer', () => {
  expect(new RedisTime().in(1_000, 0)).toBe('');
});

test('a slow answer makes what a quick one told no worse, and a quick one makes it better', () => {
  const time = new RedisTime();
  learn(time, 0, 4_000);
  expect(time.in(1_000, 5_000)).toBe(AHEAD + 5_000 + 1_000 + 2_001);
  learn(time, 6_000, 2);
  learn(time, 7_000, 4_000);
  expect(time.in(1_000, 20_000)).toBe(AHEAD + 20_000 + 1_000 + 2);
});

test.each([-600_000, 600_000])('a clock that was set by %d ms is believed', (setBy) => {
  const time = new RedisTime();
  learn(time, 0, 2);
  learn(time, 10_000, 2, AHEAD + setBy);
  expect(time.in(0, 20_000)).toBe(AHEAD + setBy + 20_000 + 2);
});
