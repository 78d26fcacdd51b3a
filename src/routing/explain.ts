import type { Explain } from '../contract/index.ts';
import type { SelectionContext } from './candidate.ts';
import type { DroppedAgent } from './eligibility.ts';
import { floorOf, type GateOptions, verdictOf } from './gate.ts';
import type { RecalledCapability } from './recall.ts';
import { type ScoredCandidate, weightedFactors } from './rerank.ts';
import { rounded } from './rounding.ts';

export interface ExplainParts {
  readonly canonicalText: string | null;
  readonly rules: Explain['rules'];
  readonly recalled: readonly RecalledCapability[];
  readonly gate: GateOptions;
  readonly context: SelectionContext;
  readonly ranked: readonly ScoredCandidate[];
  readonly dropped: readonly DroppedAgent[];
  readonly strategies: readonly Explain['strategies'][number][];
}

/** Every candidate with each factor's part, and everyone who was dropped with the reason. Built on demand only. */
export function explain(parts: ExplainParts): Explain {
  const best = parts.recalled[0];
  const judged = { ...parts.gate, minRelevance: floorOf(parts.recalled, parts.gate) };
  return {
    canonicalText: parts.canonicalText,
    rules: parts.rules,
    recall: parts.recalled.map((one) => ({
      capability: one.name,
      relevance: rounded(one.relevance),
      similarity: one.similarity === null ? null : rounded(one.similarity),
      lexical: rounded(one.lexicalScore),
      nearestText: one.nearestText,
      gate: verdictOf(one, best ?? one, judged),
    })),
    weights: { ...parts.context.options.weights },
    candidates: parts.ranked.map((candidate) => ({
      capability: candidate.capability,
      agentId: candidate.agent.record.agentId,
      relevance: rounded(candidate.relevance),
      score: rounded(candidate.score),
      parts: factorParts(candidate, parts.context),
    })),
    dropped: parts.dropped.map((agent) => ({ ...agent })),
    policy: parts.context.options.policy,
    strategies: [...parts.strategies],
  };
}

function factorParts(candidate: ScoredCandidate, context: SelectionContext): Explain['candidates'][number]['parts'] {
  return weightedFactors(context).map(({ factor, weight }) => {
    const value = factor.value(candidate, context);
    return {
      factor: factor.name,
      value: rounded(value),
      weight,
      part: rounded(weight * factor.goodness(value)),
      note: factor.note(candidate, context),
    };
  });
}
