import { affinity } from './affinity.ts';
import { canary } from './canary.ts';
import { failureDomain } from './failure-domain.ts';
import type { RoutingStrategy } from './strategy.ts';

/** Every strategy that narrows, by the name used in the config. */
export const STRATEGIES: ReadonlyMap<string, RoutingStrategy> = new Map(
  [failureDomain, affinity, canary].map((strategy) => [strategy.name, strategy]),
);
