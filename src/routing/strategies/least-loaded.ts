import { pullOf, type SelectionContext } from '../candidate.ts';
import type { ScoredCandidate } from '../rerank.ts';
import type { Narrowed } from './strategy.ts';
import { twoChoices } from './two-choices.ts';

/**
 * Takes the place of the draw where the winning capability has more than `manyCandidates` agents: two of its
 * `leastLoaded`, the less loaded of them. Many callers at once do not all pick the one best agent between two
 * heartbeats. Equal loads are ordered at random: among 30 idle agents all 30 share the work, not the first five.
 */
export function leastLoaded(candidates: readonly ScoredCandidate[], context: SelectionContext): Narrowed | null {
  const { manyCandidates, leastLoaded: kept } = context.options;
  const same = candidates.filter((candidate) => candidate.capability === candidates[0]?.capability);
  if (same.length <= manyCandidates) return null;
  const drawn = same.map((candidate) => ({ candidate, lot: context.random() }));
  drawn.sort((a, b) => pullOf(b.candidate) - pullOf(a.candidate) || a.lot - b.lot);
  const least = drawn.slice(0, kept).map(({ candidate }) => candidate);
  return {
    candidates: [twoChoices(least, context.random)],
    note: `${same.length} candidates: the less loaded of two of the ${least.length} least loaded`,
  };
}
