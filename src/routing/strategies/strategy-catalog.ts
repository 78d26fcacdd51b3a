import { affinity } from './affinity.ts';
import { best } from './best.ts';
import { canary } from './canary.ts';
import { capacityFirst } from './capacity-first.ts';
import { failureDomain } from './failure-domain.ts';
import type { BoundStrategy, StrategyRow } from './strategy.ts';

/** Every strategy there is, by the name used in configs and files; those that draw come last in a stack. */
export const STRATEGIES: ReadonlyMap<string, StrategyRow> = new Map(
  [failureDomain, affinity, canary, best, capacityFirst].map((row) => [row.name, row]),
);

/** A name, or a name with parameters. */
export type StrategyStep = string | ({ readonly name: string } & Readonly<Record<string, unknown>>);

/** For steps known to be sound; others are refused by the reader of strategy documents, with their place. */
export function bindSteps(steps: readonly StrategyStep[]): BoundStrategy[] {
  const bound = steps.map((step) => {
    const { name, ...parameters } = typeof step === 'string' ? { name: step } : step;
    const row = STRATEGIES.get(name);
    if (row === undefined) throw new RangeError(`there is no strategy "${name}"`);
    return row.bind(parameters);
  });
  return bound.at(-1)?.kind === 'draw' ? bound : [...bound, best.bind({})];
}
