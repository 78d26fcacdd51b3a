import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RouteRequest, routeRequestSchema } from '../../src/contract/index.ts';
import type { CapabilityName } from '../../src/core/index.ts';
import type { SelectionContext } from '../../src/routing/candidate.ts';
import { verdictOf } from '../../src/routing/decision.ts';
import { eligibleAgents, mayFreeUp } from '../../src/routing/eligibility.ts';
import { medianLatencyMs, rerank } from '../../src/routing/rerank.ts';
import { DEFAULT_ROUTING, type RoutingOptions } from '../../src/routing/routing-options.ts';
import { select } from '../../src/routing/select.ts';
import { type AgentSketch, agent, seededRandom, viewOf } from './agents.ts';

const WEATHER = 'weather.query.city' as CapabilityName;

function request(fields: Partial<RouteRequest> = {}): RouteRequest {
  return { ...routeRequestSchema.parse({ intent: 'x' }), ...fields };
}

function ranking(sketches: readonly AgentSketch[], fields: Partial<RouteRequest> = {}, options = DEFAULT_ROUTING) {
  const asked = request(fields);
  const eligibility = eligibleAgents([{ name: WEATHER, relevance: 0.9 }], viewOf(sketches.map(agent)), asked);
  const context: SelectionContext = {
    request: asked,
    options,
    random: seededRandom(7),
    medianLatencyMs: medianLatencyMs(eligibility.candidates),
  };
  return { eligibility, context, ranked: rerank(eligibility.candidates, context) };
}

const weather = (id: string, rest: Partial<AgentSketch> = {}): AgentSketch => ({
  id,
  capabilities: [WEATHER],
  ...rest,
});

function shares(sketches: readonly AgentSketch[], rounds: number, options: RoutingOptions = DEFAULT_ROUTING) {
  const { ranked, context } = ranking(sketches, {}, options);
  const counts = new Map<string, number>();
  for (let i = 0; i < rounds; i++) {
    const { agentId } = select(ranked, context).chosen.agent.record;
    counts.set(agentId, (counts.get(agentId) ?? 0) + 1);
  }
  return counts;
}

describe('rerank', () => {
  it('scores 0.5 relevance + 0.3 (1 - load) + 0.2 (1 - latency)', () => {
    const { ranked } = ranking([weather('a', { load: { active: 2, queued: 2, max: 8 }, latencyMs: 1_000 })]);
    expect(ranked[0]?.score).toBeCloseTo(0.5 * 0.9 + 0.3 * (1 - 0.5) + 0.2 * (1 - 0.2), 12);
  });

  it('counts an unknown latency as the median of the known ones', () => {
    const { ranked } = ranking([
      weather('fast', { latencyMs: 100 }),
      weather('slow', { latencyMs: 900 }),
      weather('unknown'),
    ]);
    expect(ranked.map(({ agent: { record } }) => record.agentId)).toEqual(['fast', 'unknown', 'slow']);
    expect(ranked[1]?.score).toBeCloseTo(0.45 + 0.3 + 0.2 * (1 - 500 / 5_000), 12);
  });

  it('clamps a latency over the budget to 1', () => {
    const { ranked } = ranking([weather('a', { latencyMs: 60_000 })]);
    expect(ranked[0]?.score).toBeCloseTo(0.45 + 0.3, 12);
  });

  it('gives the same order whatever the order of registration', () => {
    const sketch = fc.record({
      active: fc.integer({ min: 0, max: 7 }),
      latencyMs: fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: null }),
    });
    fc.assert(
      fc.property(fc.array(sketch, { minLength: 1, maxLength: 12 }), fc.integer(), (rows, seed) => {
        const sketches = rows.map((row, i) =>
          weather(`agent-${i}`, { load: { active: row.active, queued: 0, max: 8 }, latencyMs: row.latencyMs }),
        );
        const random = seededRandom(seed);
        const shuffled = sketches.map((one) => ({ one, lot: random() })).sort((a, b) => a.lot - b.lot);
        const order = (list: readonly AgentSketch[]) =>
          ranking(list).ranked.map((candidate) => [candidate.agent.record.agentId, candidate.score]);
        expect(order(shuffled.map(({ one }) => one))).toEqual(order(sketches));
      }),
    );
  });
});

describe('select', () => {
  it('shares equal agents evenly: four take 15-35 % each of 1,000 routes', () => {
    const counts = shares(
      ['a', 'b', 'c', 'd'].map((id) => weather(id)),
      1_000,
    );
    expect([...counts.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(150);
      expect(count).toBeLessThan(350);
    }
  });

  it('always takes the best where scores differ', () => {
    const counts = shares([weather('idle'), weather('busy', { load: { active: 4, queued: 0, max: 8 } })], 100);
    expect([...counts]).toEqual([['idle', 100]]);
  });

  it('takes one of the five least loaded of more than twenty', () => {
    const many = Array.from({ length: 25 }, (_, i) =>
      weather(`a${String(i).padStart(2, '0')}`, { load: { active: i, queued: 0, max: 100 } }),
    );
    const counts = shares(many, 1_000);
    expect([...counts.keys()].sort()).toEqual(['a00', 'a01', 'a02', 'a03', 'a04']);
    for (const count of counts.values()) expect(count).toBeGreaterThan(100);
  });

  it('spreads over all where more than twenty are equally loaded', () => {
    const counts = shares(
      Array.from({ length: 25 }, (_, i) => weather(`a${i}`)),
      2_000,
    );
    expect(counts.size).toBe(25);
  });

  it('weighs by free slots with capacity_first', () => {
    const counts = shares([weather('big', { maxConcurrency: 30 }), weather('small', { maxConcurrency: 10 })], 1_000, {
      ...DEFAULT_ROUTING,
      strategy: 'capacity_first',
    });
    expect(counts.get('big')).toBeGreaterThan(650);
    expect(counts.get('big')).toBeLessThan(850);
  });

  it('stays in the zone of the caller while it has a free agent, and leaves it when not', () => {
    const near = weather('near', { zone: 'hz-1', load: { active: 5, queued: 0, max: 8 } });
    const far = weather('far', { zone: 'sh-1' });
    const inZone = ranking([near, far], { zone: 'hz-1' });
    expect(select(inZone.ranked, inZone.context).chosen.agent.record.agentId).toBe('near');
    const full = ranking([{ ...near, load: { active: 8, queued: 0, max: 8 } }, far], { zone: 'hz-1' });
    expect(select(full.ranked, full.context).chosen.agent.record.agentId).toBe('far');
  });

  it('moves only the keys of an agent that left', () => {
    const all = ['a', 'b', 'c', 'd'].map((id) => weather(id));
    const owner = (sketches: readonly AgentSketch[], affinityKey: string): string => {
      const { ranked, context } = ranking(sketches, { affinityKey });
      return select(ranked, context).chosen.agent.record.agentId;
    };
    const keys = Array.from({ length: 200 }, (_, i) => `user-${i}`);
    const before = keys.map((key) => owner(all, key));
    const after = keys.map((key) => owner(all.slice(0, 3), key));
    for (const [i, key] of keys.entries()) {
      if (before[i] !== 'd') expect(`${key} ${after[i]}`).toBe(`${key} ${before[i]}`);
    }
    expect(new Set(before).size).toBe(4);
  });

  it('prefers the wished agent, and spills over when it is full', () => {
    const free = ranking([weather('a'), weather('b', { load: { active: 7, queued: 0, max: 8 } })], {
      preferredAgentId: 'b',
    });
    expect(select(free.ranked, free.context).chosen.agent.record.agentId).toBe('b');
    const full = ranking([weather('a'), weather('b', { load: { active: 8, queued: 0, max: 8 } })], {
      preferredAgentId: 'b',
    });
    expect(select(full.ranked, full.context).chosen.agent.record.agentId).toBe('a');
  });

  it('sends the canary share to the tagged agents', () => {
    const counts = shares([weather('old'), weather('new', { tags: { track: 'canary' } })], 1_000, {
      ...DEFAULT_ROUTING,
      strategies: ['canary'],
      canary: { tag: 'track', value: 'canary', share: 0.1 },
    });
    expect(counts.get('new')).toBeGreaterThan(50);
    expect(counts.get('new')).toBeLessThan(160);
  });
});

describe('eligibility and the verdict', () => {
  it('drops each unfit agent with its reason', () => {
    const { eligibility } = ranking(
      [
        weather('ok'),
        weather('dead', { state: 'offline' }),
        weather('leaving', { state: 'draining' }),
        weather('full', { load: { active: 6, queued: 2, max: 8 } }),
        weather('fenced', { state: 'cordoned' }),
        weather('unwanted'),
        weather('elsewhere', { tags: { team: 'b' } }),
      ].map((one) => (one.id === 'elsewhere' ? one : { ...one, tags: { team: 'a' } })),
      { exclude: ['unwanted'], tags: { team: 'a' } },
    );
    expect(eligibility.candidates.map((one) => one.agent.record.agentId)).toEqual(['ok']);
    expect(Object.fromEntries(eligibility.dropped.map((one) => [one.agentId, one.reason]))).toEqual({
      dead: 'offline',
      leaving: 'draining',
      full: 'no_free_slots',
      fenced: 'cordoned',
      unwanted: 'excluded',
      elsewhere: 'tags_differ',
    });
  });

  const aim = {
    capabilities: [{ name: WEATHER, relevance: 1 }],
    reason: null,
    matchedBy: 'exact',
    ruleId: null,
    ambiguous: false,
    recalled: [],
  } as const;

  it.each([
    ['routes while one is at most 80 % loaded', [{ load: 0.8 }, { load: 0.95 }], false, 'route', null],
    ['queues when all are over 80 %', [{ load: 0.81 }, { load: 0.95 }], false, 'queue', 'all_agents_overloaded'],
    ['queues when all are full', [], true, 'queue', 'all_agents_full'],
    ['says so when nobody is there', [], false, 'no_match', 'no_agent_available'],
  ] as const)('%s', (_, candidates, mayFree, decision, reason) => {
    expect(verdictOf(aim, candidates, mayFree, 0.8)).toEqual({ decision, reason });
  });

  it('knows which drops pass by themselves', () => {
    const dropped = (reason: 'no_free_slots' | 'offline') => [{ agentId: 'a', capability: WEATHER, reason }];
    expect(mayFreeUp(dropped('no_free_slots'))).toBe(true);
    expect(mayFreeUp(dropped('offline'))).toBe(false);
  });
});
