import type { RoutingFactor } from './factor.ts';

/** Share of the agent's concurrency in use; unknown counts as the candidates' median, as 0 where nobody is known. */
export const loadFactor: RoutingFactor = {
  name: 'load',
  value: (candidate) => candidate.load,
  goodness: (value) => 1 - value,
  note: (candidate) => {
    const shown = `${(candidate.load * 100).toFixed(0)} %`;
    return candidate.agent.liveness.load === null
      ? `no load reported yet, counted as ${shown}`
      : `${shown} in use, ${candidate.freeSlots} slots free`;
  },
};
