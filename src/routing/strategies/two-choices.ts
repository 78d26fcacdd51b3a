/**
 * The power of two choices: of two different candidates drawn at random the less loaded one. Nearly as even as asking
 * all of them, without the herd: many callers between two heartbeats do not all see, and take, the same least loaded.
 */
import { pullOf } from '../candidate.ts';
import type { ScoredCandidate } from '../rerank.ts';

/** Two different places of a list of `count` (at least 2), each pair as likely as any other. */
export function twoPlaces(count: number, random: () => number): readonly [number, number] {
  const first = placeIn(count, random);
  const second = placeIn(count - 1, random);
  return [first, second >= first ? second + 1 : second];
}

/** Of at least one candidate. */
export function twoChoices(candidates: readonly ScoredCandidate[], random: () => number): ScoredCandidate {
  const [only] = candidates;
  if (only === undefined) throw new RangeError('a draw needs at least one candidate');
  if (candidates.length === 1) return only;
  const [i, j] = twoPlaces(candidates.length, random);
  const one = candidates[i] ?? only;
  const other = candidates[j] ?? only;
  return pullOf(other) > pullOf(one) ? other : one;
}

/** `random` may answer 1 by rounding. */
function placeIn(count: number, random: () => number): number {
  return Math.min(count - 1, Math.floor(random() * count));
}
