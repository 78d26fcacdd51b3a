import { describe, expect, it } from 'vitest';
import { rebuildDelayMs, restUntil } from '../../src/routing/rebuild-pace.ts';

const LIMITS = { debounceMs: 2_000, maxWaitMs: 30_000 };

describe('rebuildDelayMs', () => {
  it.each([
    { case: 'a first change', now: 100_000, firstChangeAt: 100_000, isDeltaLarge: false, restsUntil: 0, delay: 2_000 },
    {
      case: 'changes for 29 s',
      now: 129_000,
      firstChangeAt: 100_000,
      isDeltaLarge: false,
      restsUntil: 0,
      delay: 1_000,
    },
    { case: 'changes for 31 s', now: 131_000, firstChangeAt: 100_000, isDeltaLarge: false, restsUntil: 0, delay: 0 },
    { case: 'a first large delta', now: 100_000, firstChangeAt: 99_000, isDeltaLarge: true, restsUntil: 0, delay: 0 },
    {
      case: 'a large delta soon after a rebuild: not before its rest, but in quiet',
      now: 100_000,
      firstChangeAt: 99_000,
      isDeltaLarge: true,
      restsUntil: 112_000,
      delay: 2_000,
    },
    {
      case: 'a large delta at the end of the rest',
      now: 111_500,
      firstChangeAt: 99_000,
      isDeltaLarge: true,
      restsUntil: 112_000,
      delay: 500,
    },
    {
      case: 'a rest longer than anybody may wait',
      now: 129_500,
      firstChangeAt: 100_000,
      isDeltaLarge: true,
      restsUntil: 500_000,
      delay: 500,
    },
    {
      case: 'a small delta during a rest',
      now: 100_000,
      firstChangeAt: 100_000,
      isDeltaLarge: false,
      restsUntil: 104_000,
      delay: 2_000,
    },
  ])('waits $delay ms for $case', ({ delay, case: _case, ...state }) => {
    expect(rebuildDelayMs(LIMITS, state)).toBe(delay);
  });

  it('spends a fifth of the time on rebuilds while every change finds a large delta', () => {
    let building = 0;
    let now = 0;
    let restsUntil = 0;
    let firstChangeAt = 0;
    while (now < 600_000) {
      now += 100;
      if (rebuildDelayMs(LIMITS, { now, firstChangeAt, isDeltaLarge: true, restsUntil }) > 0) continue;
      building += 3_000;
      firstChangeAt = now;
      now += 3_000;
      restsUntil = restUntil(now, 3_000);
    }
    expect(building / now).toBeGreaterThan(0.15);
    expect(building / now).toBeLessThanOrEqual(0.205);
  });
});
