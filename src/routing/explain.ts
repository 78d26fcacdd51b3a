import type { Explain } from '../contract/index.ts';
import type { AgentChoice } from './agent-choice.ts';
import { weightNote } from './agent-weight.ts';
import type { SelectionContext } from './candidate.ts';
import { floorOf, type GateOptions, verdictOf } from './gate.ts';
import type { RecalledCapability } from './recall.ts';
import { type ScoredCandidate, weightedFactors } from './rerank.ts';
import { rounded } from './rounding.ts';

export interface ExplainParts {
  readonly canonicalText: string | null;
  readonly reading: Explain['reading'];
  readonly rules: Explain['rules'];
  readonly recalled: readonly RecalledCapability[];
  readonly gate: GateOptions;
  readonly context: SelectionContext;
  /** One for each intent. */
  readonly choices: readonly Pick<AgentChoice, 'ranked' | 'eligibility' | 'selection' | 'context'>[];
}

/** Every candidate with each factor's part, and everyone who was dropped with the reason. Built on demand only. */
export function explain(parts: ExplainParts): Explain {
  const { context, reading, choices } = parts;
  const best = parts.recalled[0];
  const judged = { ...parts.gate, minRelevance: floorOf(parts.recalled, parts.gate) };
  return {
    canonicalText: parts.canonicalText,
    ...(reading === undefined ? {} : { reading }),
    rules: parts.rules,
    minRelevance: rounded(parts.gate.minRelevance),
    recall: parts.recalled.map((one) => ({
      capability: one.name,
      relevance: rounded(one.relevance),
      similarity: one.similarity === null ? null : rounded(one.similarity),
      lexical: rounded(one.lexicalScore),
      nearestText: one.nearestText,
      gate: verdictOf(one, best ?? one, judged),
    })),
    weights: { ...context.options.weights },
    candidates: choices.flatMap((choice) =>
      choice.ranked.map((candidate) => ({
        capability: candidate.capability,
        agentId: candidate.agent.record.agentId,
        relevance: rounded(candidate.relevance),
        score: rounded(candidate.score),
        parts: factorParts(candidate, choice.context),
        ...agentWeightOf(candidate),
      })),
    ),
    dropped: choices.flatMap(({ eligibility }) => eligibility.dropped.map((agent) => ({ ...agent }))),
    strategiesVersion: context.options.strategiesVersion,
    policy: context.options.policy,
    strategies: choices.flatMap(({ selection }) => [...(selection?.strategies ?? [])]),
  };
}

function agentWeightOf({ agent, weight }: ScoredCandidate): Pick<Explain['candidates'][number], 'agentWeight'> {
  const note = weightNote(agent, weight);
  return note === null ? {} : { agentWeight: { value: rounded(weight), note } };
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
