import { freeSlotsOf } from '../candidate.ts';
import type { RoutingFactor } from './factor.ts';

/** Share of the agent's concurrency in use; an agent that has reported none counts as idle. */
export const loadFactor: RoutingFactor = {
  name: 'load',
  value: (candidate) => candidate.load,
  goodness: (value) => 1 - value,
  note: (candidate) =>
    candidate.agent.liveness.load === null
      ? 'no load reported yet, counted as idle'
      : `${(candidate.load * 100).toFixed(0)} % in use, ${freeSlotsOf(candidate.agent)} slots free`,
};
