import type { Explain, Strategy } from '../contract/index.ts';
import type { SelectionContext } from './candidate.ts';
import type { ScoredCandidate } from './rerank.ts';
import { best } from './strategies/best.ts';
import { capacityFirst } from './strategies/capacity-first.ts';
import { leastLoaded } from './strategies/least-loaded.ts';
import type { BoundStrategy, Narrowed } from './strategies/strategy.ts';

export interface Selection {
  readonly chosen: ScoredCandidate;
  /** What each step that had an opinion kept and dropped; filled for requests that ask for `explain` only. */
  readonly strategies: readonly Explain['strategies'][number][];
}

/** The draws that a request may name, where the stack has another one. */
const ASKED_DRAWS: Readonly<Record<Strategy, BoundStrategy>> = {
  best: best.bind({}),
  capacity_first: capacityFirst.bind({}),
};

/**
 * One of the candidates (at least one, best first): the steps narrow in their order, the last of them draws, unless
 * there are so many candidates that one of the least loaded is taken.
 */
export function select(candidates: readonly ScoredCandidate[], context: SelectionContext): Selection {
  const { request, options } = context;
  const strategies: Explain['strategies'][number][] = [];
  let left = candidates;
  const take = (name: string, narrowed: Narrowed | null): void => {
    if (narrowed === null || narrowed.candidates.length === 0) return;
    if (request.explain) strategies.push(told(name, left, narrowed));
    left = narrowed.candidates;
  };
  let draw = ASKED_DRAWS.best;
  for (const step of options.strategies) {
    if (step.kind === 'draw') draw = step;
    else if (left.length > 1 || request.explain) take(step.name, step.narrow(left, context));
  }
  if (request.strategy !== undefined && request.strategy !== draw.name) draw = ASKED_DRAWS[request.strategy];
  const many = leastLoaded(left, context);
  take(many === null ? draw.name : 'least_loaded', many ?? draw.narrow(left, context));
  const [chosen] = left;
  if (chosen === undefined) throw new RangeError('select() needs at least one candidate');
  return { chosen, strategies };
}

function told(name: string, before: readonly ScoredCandidate[], { candidates, note }: Narrowed) {
  const kept = new Set(candidates);
  const dropped = before.filter((candidate) => !kept.has(candidate)).map(({ agent }) => agent.record.agentId);
  return { name, note, kept: candidates.length, dropped: [...new Set(dropped)] };
}
