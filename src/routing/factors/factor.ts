import type { Candidate, SelectionContext } from '../candidate.ts';

/**
 * One judged aspect of a candidate. A factor is pure and cheap (under a microsecond): it runs for every candidate of
 * every route. To add one: a file here, a row in factor-catalog.ts, a weight in the config.
 */
export interface RoutingFactor {
  readonly name: string;
  /** What is measured, 0..1; shown as it is in the reply. */
  value(candidate: Candidate, context: SelectionContext): number;
  /** How good that is, 0..1: what the weight is multiplied with. */
  goodness(value: number): number;
  /** The value in words, for `explain`. */
  note(candidate: Candidate, context: SelectionContext): string;
}
