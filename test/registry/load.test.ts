import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Load } from '../../src/contract/index.ts';
import { ManualClock } from '../../src/core/index.ts';
import { InFlightBook } from '../../src/registry/in-flight.ts';
import { freeSlots, meanLoadAfter, readLoad, scoredLoad } from '../../src/registry/load.ts';
import { agent } from '../routing/agents.ts';
import { makeBench, registrationOf } from './registry-bench.ts';

const sketch = (load: Load | null, meanLoad?: number) =>
  agent({
    id: 'a',
    capabilities: ['a.b.c'],
    load,
    maxConcurrency: 10,
    ...(meanLoad === undefined ? {} : { meanLoad }),
  });
const scored = (one: ReturnType<typeof sketch>, inFlight = 0) => scoredLoad(one.record, one.liveness, inFlight);

describe('a reported load', () => {
  test('that means nothing is no report, one out of bounds is bounded', () => {
    expect(readLoad({ active: Number.NaN, queued: 0 })).toBeNull();
    expect(readLoad({ active: 1, queued: Number.POSITIVE_INFINITY })).toBeNull();
    expect(readLoad({ active: -5, queued: -1, max: 0 })).toEqual({ active: 0, queued: 0, max: 1 });
    expect(readLoad({ active: 1e9, queued: 1e9, max: 1e9 })).toEqual({
      active: 1_000_000,
      queued: 1_000_000,
      max: 1_000_000,
    });
  });

  test('counts between 0 and 1 whatever it says', () => {
    const any = fc.double({ noDefaultInfinity: false });
    fc.assert(
      fc.property(any, any, any, fc.nat(50), (active, queued, max, inFlight) => {
        const { record, liveness } = sketch(readLoad({ active, queued, max }));
        const load = scoredLoad(record, liveness, inFlight);
        expect(load === null || (load >= 0 && load <= 1)).toBe(true);
        expect(freeSlots(record, liveness, inFlight)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('the mean', () => {
  test('follows by the time that passed, however often it is reported', () => {
    let often = 0;
    for (let i = 0; i < 30; i++) often = meanLoadAfter(often, 1, 1_000) ?? 0;
    expect(meanLoadAfter(0, 1, 30_000)).toBeCloseTo(often, 9);
    expect(often).toBeCloseTo(0.632, 3);
    expect(meanLoadAfter(null, 0.4, 0)).toBe(0.4);
    expect(meanLoadAfter(0.4, null, 10_000)).toBe(0.4);
  });

  test('keeps one spike of half a minute from exiling an agent, and forgets it at once', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a', { maxConcurrency: 10 }));
    const beat = (active: number): number | null => {
      bench.clock.advance(30_000);
      bench.registry.heartbeat('a', { leaseId: reply.leaseId, load: { active, queued: 0 } });
      const now = bench.registry.view.agent('a');
      return now === undefined ? null : scoredLoad(now.record, now.liveness, 0);
    };
    for (let i = 0; i < 10; i++) beat(1);
    expect(beat(9)).toBeLessThan(0.65);
    expect(beat(1)).toBe(0.1);
    for (let i = 0; i < 10; i++) beat(9);
    expect(beat(9)).toBeCloseTo(0.9, 2);
  });
});

describe('what we gave out ourselves', () => {
  test('counts where it is more than what the agent reported, known or not', () => {
    expect(scored(sketch(null))).toBeNull();
    expect(scored(sketch(null), 3)).toBe(0.3);
    expect(scored(sketch({ active: 5, queued: 0 }), 3)).toBe(0.5);
    expect(scored(sketch({ active: 5, queued: 0 }, 0.2), 3)).toBe(0.3);
    const { record, liveness } = sketch({ active: 2, queued: 0 });
    expect([freeSlots(record, liveness, 0), freeSlots(record, liveness, 7), freeSlots(record, liveness, 99)]).toEqual([
      8, 3, 0,
    ]);
  });

  test('is back at zero when all has ended, ended twice or never', () => {
    const clock = new ManualClock();
    const book = new InFlightBook(clock, 60_000);
    const ends = [book.start('a'), book.start('a'), book.start('b')];
    expect([book.count('a'), book.count('b'), book.count('c')]).toEqual([2, 1, 0]);
    ends[0]?.();
    ends[0]?.();
    expect(book.count('a')).toBe(1);
    clock.advance(60_000);
    expect([book.count('a'), book.count('b')]).toEqual([0, 0]);
    ends[1]?.();
    expect(book.count('a')).toBe(0);
  });

  test('goes with the agent', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    const end = bench.registry.inFlight.start('a');
    expect(bench.registry.view.inFlight('a')).toBe(1);
    await bench.registry.withdraw('a', null);
    expect(bench.registry.view.inFlight('a')).toBe(0);
    end();
    expect(bench.registry.view.inFlight('a')).toBe(0);
  });
});

test('a new agent has its weight in thirty seconds, one that starts again while it is well has it already', async () => {
  const bench = makeBench();
  const warmUp = () => bench.registry.view.agent('a')?.liveness.warmUp ?? null;
  await bench.registry.register(registrationOf('a'));
  expect(warmUp()).toEqual({ from: 0, until: 30_000 });
  bench.clock.advance(20_000);
  await bench.registry.register(registrationOf('a'));
  expect(warmUp()).toEqual({ from: 0, until: 30_000 });
  bench.clock.advance(90_000);
  await bench.registry.register(registrationOf('a'));
  expect(warmUp()).toEqual({ from: 110_000, until: 140_000 });
});
