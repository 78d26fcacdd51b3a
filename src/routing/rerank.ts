import { type Candidate, medianOf, type SelectionContext } from './candidate.ts';
import type { RoutingFactor } from './factors/factor.ts';
import { FACTORS } from './factors/factor-catalog.ts';

export interface ScoredCandidate extends Candidate {
  readonly score: number;
}

/**
 * `score = sum of weight * goodness`, by default 0.5 relevance + 0.3 (1 - load) + 0.2 (1 - latency), times the
 * agent's own weight: 1, less where it is suspect or new. Best first; equal scores by agentId, so that the order of
 * registration changes nothing.
 */
export function rerank(candidates: readonly Candidate[], context: SelectionContext): ScoredCandidate[] {
  const weighted = weightedFactors(context);
  return candidates
    .map((candidate) => ({
      capability: candidate.capability,
      relevance: candidate.relevance,
      agent: candidate.agent,
      load: candidate.load,
      freeSlots: candidate.freeSlots,
      weight: candidate.weight,
      score: candidate.weight * scoreOf(candidate, context, weighted),
    }))
    .sort(
      (a, b) =>
        b.score - a.score ||
        compareText(a.agent.record.agentId, b.agent.record.agentId) ||
        compareText(a.capability, b.capability),
    );
}

function scoreOf(
  candidate: Candidate,
  context: SelectionContext,
  weighted: readonly { factor: RoutingFactor; weight: number }[],
): number {
  let score = 0;
  for (const { factor, weight } of weighted) score += weight * factor.goodness(factor.value(candidate, context));
  return score;
}

export function weightedFactors(context: SelectionContext): { factor: RoutingFactor; weight: number }[] {
  return FACTORS.map((factor) => ({ factor, weight: context.options.weights[factor.name] ?? 0 })).filter(
    ({ weight }) => weight !== 0,
  );
}

export function medianLatencyMs(candidates: readonly Candidate[]): number | null {
  const known: number[] = [];
  for (const { agent } of candidates) {
    if (agent.liveness.avgLatencyMs !== null) known.push(agent.liveness.avgLatencyMs);
  }
  return medianOf(known);
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
