import type { Candidate, SelectionContext } from '../candidate.ts';
import type { RoutingFactor } from './factor.ts';

function latencyMs(candidate: Candidate, context: SelectionContext): number {
  return candidate.agent.liveness.avgLatencyMs ?? context.medianLatencyMs ?? 0;
}

/**
 * The agent's mean answer time over the latency budget, at most 1. Unknown counts as the candidates' median, so that
 * a newcomer is neither favoured nor shunned; where nobody is known, all count as 0.
 */
export const latencyFactor: RoutingFactor = {
  name: 'latency',
  value: (candidate, context) =>
    Math.min(1, Math.max(0, latencyMs(candidate, context) / context.options.latencyBudgetMs)),
  goodness: (value) => 1 - value,
  note: (candidate, context) => {
    const known = candidate.agent.liveness.avgLatencyMs !== null;
    const shown = `${latencyMs(candidate, context).toFixed(0)} ms of ${context.options.latencyBudgetMs} ms`;
    return known ? shown : `unknown, counted as ${shown}`;
  },
};
