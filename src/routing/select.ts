import type { Strategy } from '../contract/index.ts';
import type { SelectionContext } from './candidate.ts';
import type { ScoredCandidate } from './rerank.ts';
import { STRATEGIES } from './strategies/strategy-catalog.ts';

export interface Selection {
  readonly chosen: ScoredCandidate;
  readonly strategies: readonly { readonly name: string; readonly note: string }[];
}

/** Scores this close are equal: floating point must not decide between equal agents. */
const EQUAL_SCORE = 1e-9;

/**
 * One of the candidates (at least one, best first): strategies narrow in their configured order, then the draw.
 * With more than `manyCandidates` agents of the winning capability, one of its `leastLoaded` at random, so that
 * many callers at once do not all pick the one best agent between two heartbeats.
 */
export function select(candidates: readonly ScoredCandidate[], context: SelectionContext): Selection {
  const strategies: { name: string; note: string }[] = [];
  let left = candidates;
  for (const name of context.options.strategies) {
    const narrowed = STRATEGIES.get(name)?.narrow(left, context);
    if (narrowed === null || narrowed === undefined) continue;
    strategies.push({ name, note: narrowed.note });
    if (narrowed.candidates.length > 0) left = narrowed.candidates;
  }
  const sameCapability = left.filter((candidate) => candidate.capability === left[0]?.capability);
  if (sameCapability.length > context.options.manyCandidates) {
    const chosen = fromLeastLoaded(sameCapability, context);
    strategies.push({ name: 'least_loaded', note: `${sameCapability.length} candidates: one of the least loaded` });
    return { chosen, strategies };
  }
  const draw = context.request.strategy ?? context.options.strategy;
  const chosen = DRAWS[draw](left, context);
  strategies.push({ name: draw, note: `from ${left.length} candidates` });
  return { chosen, strategies };
}

const DRAWS: Readonly<
  Record<Strategy, (candidates: readonly ScoredCandidate[], context: SelectionContext) => ScoredCandidate>
> = {
  best(candidates, context) {
    const top = candidates[0]?.score ?? 0;
    return pick(
      candidates.filter((candidate) => top - candidate.score <= EQUAL_SCORE),
      context,
    );
  },
  /** At random, weighted by free slots, among the agents of the best candidate's capability. */
  capacity_first(candidates, context) {
    const same = candidates.filter((candidate) => candidate.capability === candidates[0]?.capability);
    const total = same.reduce((sum, candidate) => sum + candidate.freeSlots, 0);
    let point = context.random() * total;
    for (const candidate of same) {
      point -= candidate.freeSlots;
      if (point < 0) return candidate;
    }
    return pick(same, context);
  },
};

/** Equal loads are ordered at random: among 30 idle agents all 30 share the work, not the first five by name. */
function fromLeastLoaded(candidates: readonly ScoredCandidate[], context: SelectionContext): ScoredCandidate {
  const drawn = candidates.map((candidate) => ({ candidate, lot: context.random() }));
  drawn.sort((a, b) => a.candidate.load - b.candidate.load || a.lot - b.lot);
  return pick(
    drawn.slice(0, context.options.leastLoaded).map(({ candidate }) => candidate),
    context,
  );
}

function pick(candidates: readonly ScoredCandidate[], context: SelectionContext): ScoredCandidate {
  const one = candidates[Math.min(candidates.length - 1, Math.floor(context.random() * candidates.length))];
  if (one === undefined) throw new RangeError('select() needs at least one candidate');
  return one;
}
