import { describe, expect, test } from 'vitest';
import { makeBench, pass, type RegistryBench, registrationOf } from './registry-bench.ts';

const QUARTER_HOUR_MS = 900_000;
const HEALTH = { transport: { type: 'http', endpoint: 'http://a.example', healthEndpoint: 'http://a.example/health' } };

class Fleet {
  readonly bench: RegistryBench;
  readonly #leases = new Map<string, string>();

  constructor(bench = makeBench()) {
    this.bench = bench;
  }

  async join(count: number, changes: Record<string, unknown> = {}): Promise<this> {
    for (let i = 0; i < count; i++) {
      const agentId = `a${this.#leases.size}`;
      const { reply } = await this.bench.registry.register(registrationOf(agentId, changes));
      this.#leases.set(agentId, reply.leaseId);
    }
    return this;
  }

  /** Time in which these (by number) beat every interval; the others are silent. */
  async live(ms: number, beats: (i: number) => boolean): Promise<void> {
    for (let left = ms; left > 0; left -= 30_000) {
      await pass(this.bench.clock, Math.min(30_000, left), 5_000);
      [...this.#leases].forEach(([agentId, leaseId], i) => {
        if (beats(i)) this.bench.registry.heartbeat(agentId, { leaseId });
      });
    }
  }

  get offline(): number {
    return this.bench.registry.counts().offline;
  }
}

describe('leases that run out together', () => {
  test('take nobody out, and every answer says so', async () => {
    const fleet = await new Fleet().join(20);
    const { bench } = fleet;
    await fleet.live(120_000, (i) => i >= 4);
    expect([fleet.offline, bench.registry.preserving, bench.registry.view.preserving]).toEqual([0, true, true]);
    expect(bench.registry.counts()).toMatchObject({ suspect: 4, online: 16 });
    expect(bench.registry.list({ limit: 1 }).registry).toEqual({ preserving: true });
    const { reply } = await bench.registry.register(registrationOf('new'));
    expect(bench.registry.heartbeat('new', { leaseId: reply.leaseId }).registry).toEqual({ preserving: true });
    const beats = [{ agentId: 'new', leaseId: reply.leaseId }];
    expect(bench.registry.heartbeats({ beats }).registry).toEqual({ preserving: true });
  });

  test('are let go after a quarter of an hour, whatever happens', async () => {
    const fleet = await new Fleet().join(20);
    await fleet.live(90_000 + QUARTER_HOUR_MS - 1, (i) => i >= 10);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([0, true]);
    await fleet.live(60_000, (i) => i >= 10);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([10, false]);
    expect(fleet.bench.registry.heartbeat('a19', { leaseId: leaseOf(fleet, 'a19') }).registry).toBeUndefined();
  });

  test('are spared no longer than the others are away: who comes back ends it, who stays away goes', async () => {
    const fleet = await new Fleet().join(20);
    await fleet.live(150_000, () => false);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([0, true]);
    await fleet.live(60_000, (i) => i >= 2);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([2, false]);
  });

  test.each([
    ['9 leases are too few', 9, 9],
    ['15 % is not over 15 %', 20, 3],
  ])('%s: they go one by one', async (_, count, silent) => {
    const fleet = await new Fleet().join(count);
    await fleet.live(120_000, (i) => i >= silent);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([silent, false]);
  });

  test('although the last beats lay spread over an interval', async () => {
    const fleet = new Fleet();
    for (let i = 0; i < 30; i++) {
      await fleet.join(1);
      await pass(fleet.bench.clock, 1_000);
    }
    await pass(fleet.bench.clock, 300_000, 500);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([0, true]);
  });

  test('of agents whose endpoint answers are no sign of anything', async () => {
    const fleet = await new Fleet().join(20, HEALTH);
    await fleet.live(300_000, () => false);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([0, false]);
  });

  test('do not keep an agent whose time is over', async () => {
    const fleet = await new Fleet().join(19);
    await fleet.join(1, { ttl: 200 });
    await fleet.live(240_000, () => false);
    expect([fleet.offline, fleet.bench.registry.preserving]).toEqual([1, true]);
    expect(fleet.bench.registry.get('a19').stateReason).toBe('expired');
  });
});

test('a restart with 1,000 agents of which 300 are dead loses nobody, and lets the dead go in time', async () => {
  const before = await new Fleet().join(1_000);
  await before.bench.registry.stop();
  const bench = makeBench({ store: before.bench.store, clock: before.bench.clock });
  await bench.registry.load();
  const leases = (await bench.store.load()).agents.map(({ agentId, leaseId }) => ({ agentId, leaseId }));
  const living = leases.slice(300);
  let refused = 0;
  for (let left = 90_000 + QUARTER_HOUR_MS + 30_000; left > 0; left -= 30_000) {
    bench.clock.advance(30_000);
    refused += bench.registry.heartbeats({ beats: living }).refused;
    expect(bench.registry.counts().online).toBeGreaterThanOrEqual(700);
  }
  expect(refused).toBe(0);
  expect(bench.registry.preserving).toBe(false);
  expect(bench.registry.counts()).toMatchObject({ online: 700, offline: 300, suspect: 0 });
});

test('60 % of beats lost and healed takes nobody out; whoever is dead afterwards goes', async () => {
  const fleet = await new Fleet().join(50);
  let seed = 1;
  const lost = (): boolean => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647 < 0.6;
  };
  await fleet.live(600_000, () => !lost());
  expect(fleet.offline).toBe(0);
  await fleet.live(90_000, () => true);
  expect([fleet.bench.registry.counts().online, fleet.bench.registry.preserving]).toEqual([50, false]);
  await fleet.live(150_000, (i) => i !== 7);
  expect([fleet.offline, fleet.bench.registry.get('a7').state]).toEqual([1, 'offline']);
});

function leaseOf(fleet: Fleet, agentId: string): string {
  const agent = fleet.bench.registry.view.agent(agentId);
  return agent?.record.leaseId ?? '';
}
