import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RouteRequest, routeRequestSchema } from '../../src/contract/index.ts';
import type { CapabilityName } from '../../src/core/index.ts';
import type { SelectionContext } from '../../src/routing/candidate.ts';
import { verdictOf } from '../../src/routing/decision.ts';
import { eligibleAgents, mayFreeUp } from '../../src/routing/eligibility.ts';
import { medianLatencyMs, rerank } from '../../src/routing/rerank.ts';
import { DEFAULT_ROUTING } from '../../src/routing/routing-options.ts';
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
    gate: null,
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
