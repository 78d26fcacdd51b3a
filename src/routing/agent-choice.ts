import type { RouteRequest } from '../contract/index.ts';
import type { RegistryView } from '../registry/index.ts';
import type { SelectionContext } from './candidate.ts';
import { type Aim, type Verdict, verdictOf } from './decision.ts';
import { type Eligibility, eligibleAgents, mayFreeUp } from './eligibility.ts';
import { medianLatencyMs, rerank, type ScoredCandidate } from './rerank.ts';
import { optionsFor, type RoutingOptions } from './routing-options.ts';
import { type Selection, select } from './select.ts';

/** What steps 7 to 10 made of one intent. */
export interface AgentChoice {
  readonly aim: Aim;
  readonly eligibility: Eligibility;
  /** Best first. */
  readonly ranked: readonly ScoredCandidate[];
  readonly context: SelectionContext;
  readonly verdict: Verdict;
  readonly selection: Selection | null;
}

export interface ChoiceSources {
  readonly request: RouteRequest;
  readonly view: RegistryView;
  readonly options: RoutingOptions;
  /** Uniform in 0..1. */
  readonly random: () => number;
}

/** Synchronous, over live state: one choice is of one moment. */
export function chooseAgent(aim: Aim, { request, view, options: current, random }: ChoiceSources): AgentChoice {
  const options = optionsFor(current, aim.capabilities[0]?.name);
  const eligibility = eligibleAgents(aim.capabilities, view, request);
  const context = { request, options, random, medianLatencyMs: medianLatencyMs(eligibility.candidates) };
  const ranked = rerank(eligibility.candidates, context);
  const verdict = verdictOf(aim, ranked, mayFreeUp(eligibility.dropped), options.queueLoad);
  const selection = verdict.decision === 'route' ? select(ranked, context) : null;
  return { aim, eligibility, ranked, context, verdict, selection };
}
