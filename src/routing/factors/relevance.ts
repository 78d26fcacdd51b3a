import type { RoutingFactor } from './factor.ts';

/** How surely the capability is what was meant. */
export const relevanceFactor: RoutingFactor = {
  name: 'relevance',
  value: (candidate) => candidate.relevance,
  goodness: (value) => value,
  note: (candidate) => `${candidate.capability} is ${(candidate.relevance * 100).toFixed(0)} % likely what was meant`,
};
