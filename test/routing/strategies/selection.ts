/** Candidates of one capability through eligibility, score and selection, for the tests of strategies. */
import { type RouteRequest, routeRequestSchema } from '../../../src/contract/index.ts';
import type { CapabilityName } from '../../../src/core/index.ts';
import type { Candidate, SelectionContext } from '../../../src/routing/candidate.ts';
import { eligibleAgents } from '../../../src/routing/eligibility.ts';
import { medianLatencyMs, rerank } from '../../../src/routing/rerank.ts';
import { DEFAULT_ROUTING, type RoutingOptions } from '../../../src/routing/routing-options.ts';
import { type Selection, select } from '../../../src/routing/select.ts';
import { bindSteps, type StrategyStep } from '../../../src/routing/strategies/strategy-catalog.ts';
import { type AgentSketch, agent, seededRandom, viewOf } from '../agents.ts';

export const WEATHER = 'weather.query.city' as CapabilityName;

export const weather = (id: string, rest: Partial<AgentSketch> = {}): AgentSketch => ({
  id,
  capabilities: [WEATHER],
  ...rest,
});

export const loaded = (active: number, max = 10) => ({ load: { active, queued: 0, max } });

export const stack = (...steps: StrategyStep[]): RoutingOptions => ({
  ...DEFAULT_ROUTING,
  strategies: bindSteps(steps),
});

const REQUEST: RouteRequest = routeRequestSchema.parse({ intent: 'x' });

/** Draws of one seed go on from route to route. */
export class Chooser {
  readonly #candidates: readonly Candidate[];
  readonly #options: RoutingOptions;
  readonly #random: () => number;

  constructor(sketches: readonly AgentSketch[], options: RoutingOptions = DEFAULT_ROUTING, seed = 7) {
    this.#candidates = eligibleAgents(
      [{ name: WEATHER, relevance: 0.9 }],
      viewOf(sketches.map(agent)),
      REQUEST,
    ).candidates;
    this.#options = options;
    this.#random = seededRandom(seed);
  }

  select(fields: Partial<RouteRequest> = {}): Selection {
    const request = { ...REQUEST, ...fields };
    const context: SelectionContext = {
      request,
      options: this.#options,
      random: this.#random,
      medianLatencyMs: medianLatencyMs(this.#candidates),
    };
    return select(rerank(this.#candidates, context), context);
  }

  choose(fields: Partial<RouteRequest> = {}): string {
    return this.select(fields).chosen.agent.record.agentId;
  }

  /** How often each was chosen in so many routes. */
  counts(rounds: number, fieldsOf: (round: number) => Partial<RouteRequest> = () => ({})): Map<string, number> {
    const counts = new Map<string, number>();
    for (let i = 0; i < rounds; i++) {
      const agentId = this.choose(fieldsOf(i));
      counts.set(agentId, (counts.get(agentId) ?? 0) + 1);
    }
    return counts;
  }
}
