import type { DecisionReason } from '../contract/index.ts';
import type { RecalledCapability } from './recall.ts';

/** `minRelevance` unless an operator sets another; what is learnt and bounded beforehand is by this one. */
export const USUAL_MIN_RELEVANCE = 0.45;

export interface GateOptions {
  readonly minRelevance: number;
  /** Whether `minRelevance` is the caller's own word: then the best itself must reach it. */
  readonly isStrict?: boolean;
  readonly ambiguityMargin: number;
  readonly relevanceGate: number;
}

export type GateVerdict = 'passed' | 'below_min_relevance' | 'outside_gate' | 'sensitive';

export interface Gated {
  /** Capabilities whose agents may be compared, best first. Empty exactly when `reason` is set. */
  readonly passed: readonly RecalledCapability[];
  readonly reason: DecisionReason | null;
  /** Two different capabilities are about as likely to be meant. */
  readonly ambiguous: boolean;
}

/**
 * Which recalled capabilities (best first) may compete for the work. Without this gate the weighted score would let an
 * idle mail agent win a weather question: load and latency together weigh as much as relevance. A sensitive
 * capability never passes; where it is the best match nothing passes, since the next best is not what was meant.
 */
export function gate(recalled: readonly RecalledCapability[], options: GateOptions): Gated {
  const best = recalled[0];
  if (best === undefined) return { passed: [], reason: 'below_min_relevance', ambiguous: false };
  const floor = floorOf(recalled, options);
  if (best.relevance < floor) return { passed: [], reason: 'below_min_relevance', ambiguous: false };
  if (best.sensitive) return { passed: [], reason: 'sensitive_requires_rule', ambiguous: false };
  const judged = { ...options, minRelevance: floor };
  const passed = recalled.filter((one) => verdictOf(one, best, judged) === 'passed');
  const second = recalled.find((one) => one !== best && !one.sensitive);
  const ambiguous =
    second !== undefined && second.relevance >= floor && best.relevance - second.relevance <= options.ambiguityMargin;
  return { passed, reason: null, ambiguous };
}

/** Capabilities that may share the odds of one intent. */
const MAX_SHARERS = 8;

/**
 * The least relevance that counts. Several capabilities that read alike share the odds, each with a part: where it is
 * likelier than not that one of them is meant, the parts count together, and the best need not reach the minimum by
 * itself. Nothing far under the minimum is lifted: much that is unlikely is no likelihood.
 */
export function floorOf(recalled: readonly RecalledCapability[], options: GateOptions): number {
  const best = recalled[0];
  const { minRelevance } = options;
  if (best === undefined || options.isStrict === true || best.relevance >= minRelevance) return minRelevance;
  if (best.relevance < minRelevance / 3) return minRelevance;
  let shared = 0;
  for (const one of recalled.slice(0, MAX_SHARERS)) if (one.relevance * 2 >= best.relevance) shared += one.relevance;
  return shared >= Math.max(0.5, minRelevance) ? best.relevance / 2 : minRelevance;
}

export function verdictOf(one: RecalledCapability, best: RecalledCapability, options: GateOptions): GateVerdict {
  if (one.relevance < options.minRelevance) return 'below_min_relevance';
  if (one.sensitive) return 'sensitive';
  return best.relevance - one.relevance <= options.relevanceGate ? 'passed' : 'outside_gate';
}
