import type { SelectionContext } from '../candidate.ts';
import type { ScoredCandidate } from '../rerank.ts';

/** Fewer candidates than before (never none), and why in words; null where the strategy has no opinion. */
export interface Narrowed {
  readonly candidates: readonly ScoredCandidate[];
  readonly note: string;
}

/**
 * Narrows the candidates before the draw. Pure; must not answer an empty list: a strategy is a wish, not a rule.
 * To add one: a file here and a row in strategy-catalog.ts.
 */
export interface RoutingStrategy {
  readonly name: string;
  narrow(candidates: readonly ScoredCandidate[], context: SelectionContext): Narrowed | null;
}
