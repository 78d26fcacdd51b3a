import type { DecisionReason } from '../contract/index.ts';
import type { RecalledCapability } from './recall.ts';

export interface GateOptions {
  readonly minRelevance: number;
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
  if (best.relevance < options.minRelevance) return { passed: [], reason: 'below_min_relevance', ambiguous: false };
  if (best.sensitive) return { passed: [], reason: 'sensitive_requires_rule', ambiguous: false };
  const passed = recalled.filter((one) => verdictOf(one, best, options) === 'passed');
  const second = recalled.find((one) => one !== best && !one.sensitive);
  const ambiguous =
    second !== undefined &&
    second.relevance >= options.minRelevance &&
    best.relevance - second.relevance <= options.ambiguityMargin;
  return { passed, reason: null, ambiguous };
}

export function verdictOf(one: RecalledCapability, best: RecalledCapability, options: GateOptions): GateVerdict {
  if (one.relevance < options.minRelevance) return 'below_min_relevance';
  if (one.sensitive) return 'sensitive';
  return best.relevance - one.relevance <= options.relevanceGate ? 'passed' : 'outside_gate';
}
