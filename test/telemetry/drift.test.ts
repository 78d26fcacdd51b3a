import { describe, expect, it, onTestFinished } from 'vitest';
import { type DiagnosticEvents, ManualClock, publish, subscribe } from '../../src/core/index.ts';
import { KeyValueDriftStore, MemoryStore } from '../../src/storage/index.ts';
import { stabilityIndex } from '../../src/telemetry/drift.ts';
import { type DriftStore, DriftWatch, startMetrics } from '../../src/telemetry/index.ts';

const HOUR_MS = 3_600_000;

function driftRig(clock = new ManualClock(), store?: DriftStore) {
  const watch = new DriftWatch(clock, store);
  const warnings: DiagnosticEvents['route.drifted'][] = [];
  const stop = subscribe('route.drifted', (event) => warnings.push(event));
  onTestFinished(async () => {
    await watch.stop();
    stop();
  });
  const decide = (count: number, relevance: number | null, decision: 'route' | 'no_match' = 'route'): void => {
    for (let i = 0; i < count; i++) {
      const rest = { reason: null, matchedBy: null, cache: 'miss' as const, degraded: false, stages: {}, totalMs: 1 };
      publish('route.decided', { decision, relevance, ...rest });
    }
  };
  /** A week of the same: nine in ten are sure, one in ten is refused. */
  const quietWeek = (): void => {
    for (let hour = 0; hour < 168; hour++) {
      decide(18, 0.95);
      decide(2, 0.15, 'no_match');
      clock.advance(HOUR_MS);
    }
  };
  return { clock, watch, warnings, decide, quietWeek };
}

describe('the stability index', () => {
  it('is 0 of the same shares, whatever their number, and grows with the difference', () => {
    expect(stabilityIndex([0, 0], [0, 0])).toBe(0);
    expect(stabilityIndex([500, 500], [5_000, 5_000])).toBeCloseTo(0, 6);
    expect(stabilityIndex([900, 100], [500, 500])).toBeCloseTo(0.4 * Math.log(1.8) - 0.4 * Math.log(0.2), 2);
    expect(Number.isFinite(stabilityIndex([100, 0], [0, 100]))).toBe(true);
  });
});

describe('drift', () => {
  it('says nothing before there is enough to compare', () => {
    const { watch, decide, warnings } = driftRig();
    decide(500, 0.1, 'no_match');
    expect(watch.figures('hour')).toEqual({
      relevance: null,
      noMatch: null,
      noMatchShare: 1,
      noMatchShareBefore: null,
    });
    expect(warnings).toEqual([]);
  });

  it('leaves out what is asked to measure', () => {
    const { watch, quietWeek, warnings } = driftRig();
    quietWeek();
    const before = watch.figures('hour');
    const rest = { reason: null, matchedBy: null, cache: 'miss' as const, degraded: false, stages: {}, totalMs: 1 };
    for (let i = 0; i < 500; i++) {
      publish('route.decided', { decision: 'no_match', relevance: 0.1, isProbe: true, ...rest });
    }
    expect(watch.figures('hour')).toEqual(before);
    expect(warnings).toEqual([]);
  });

  it('stays quiet while the same is asked', () => {
    const { watch, decide, quietWeek, warnings } = driftRig();
    quietWeek();
    for (let i = 0; i < 30; i++) {
      decide(9, 0.95);
      decide(1, 0.15, 'no_match');
    }
    expect(watch.figures('hour').relevance).toBeLessThan(0.1);
    expect(watch.figures('day').noMatch).toBeLessThan(0.1);
    expect(warnings).toEqual([]);
  });

  it('warns once when relevance and no_match shift, and again only after it was over', () => {
    const { watch, clock, decide, quietWeek, warnings } = driftRig();
    quietWeek();
    decide(400, 0.15, 'no_match');
    expect(watch.figures('hour').relevance).toBeGreaterThan(0.25);
    const hour = warnings.filter((one) => one.window === 'hour').map((one) => one.of);
    expect(hour.sort()).toEqual(['no_match', 'relevance']);
    expect(warnings.find((one) => one.window === 'hour')).toMatchObject({
      noMatchShare: 1,
      noMatchShareBefore: expect.closeTo(0.1, 6),
    });
    const given = warnings.length;
    decide(400, 0.15, 'no_match');
    expect(warnings.filter((one) => one.window === 'hour')).toHaveLength(2);
    clock.advance(HOUR_MS);
    decide(400, 0.95);
    decide(400, 0.15, 'no_match');
    expect(warnings.length).toBeGreaterThan(given);
  });

  it('counts rules and exact names for the share alone', () => {
    const { watch, decide, quietWeek } = driftRig();
    quietWeek();
    decide(400, null);
    const { relevance, noMatch } = watch.figures('hour');
    expect(relevance).toBeNull();
    expect(noMatch).not.toBeNull();
  });

  it('forgets what is older than a week and a day', () => {
    const { watch, clock, decide, quietWeek } = driftRig();
    quietWeek();
    clock.advance(194 * HOUR_MS);
    decide(300, 0.5);
    expect(watch.figures('hour').noMatchShareBefore).toBeNull();
    expect(watch.figures('day').noMatchShareBefore).toBeNull();
  });

  it('goes on after a restart with what was counted before, and does not warn again', async () => {
    const store: DriftStore = new KeyValueDriftStore(new MemoryStore());
    const { watch, clock, decide, quietWeek, warnings } = driftRig(new ManualClock(), store);
    quietWeek();
    decide(400, 0.15, 'no_match');
    const before = watch.figures('hour');
    expect(warnings.length).toBeGreaterThan(0);
    await watch.stop();
    const next = driftRig(clock, store);
    await next.watch.load();
    expect(next.watch.figures('hour')).toEqual(before);
    next.decide(100, 0.15, 'no_match');
    expect(next.warnings).toEqual([]);
  });

  it('is at most five minutes behind when the process dies', async () => {
    const store: DriftStore = new KeyValueDriftStore(new MemoryStore());
    const { clock, decide } = driftRig(new ManualClock(), store);
    decide(300, 0.5);
    clock.advance(300_000);
    await Promise.resolve();
    const next = driftRig(clock, store);
    await next.watch.load();
    expect(next.watch.figures('hour').noMatchShare).toBe(0);
  });

  it('counts on where nothing can be read or kept', async () => {
    const store: DriftStore = {
      load: () => Promise.reject(new Error('no disk')),
      save: () => Promise.reject(new Error('no disk')),
    };
    const { watch, decide } = driftRig(new ManualClock(), store);
    await watch.load();
    decide(300, 0.5, 'no_match');
    await watch.stop();
    expect(watch.figures('hour').noMatchShare).toBe(1);
  });

  it('is a gauge by window, absent without a figure', async () => {
    const { watch, decide, quietWeek } = driftRig();
    const metrics = startMetrics({ defaults: false, collectors: { drift: (window) => watch.figures(window) } });
    onTestFinished(() => metrics.stop());
    expect(await metrics.text()).not.toContain('drift_index{');
    quietWeek();
    decide(300, 0.15, 'no_match');
    expect(await metrics.text()).toMatch(/agent_reach_route_drift_index\{window="hour",of="relevance"\} \d/);
  });
});
