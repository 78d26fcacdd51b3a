/**
 * What every strategy is: it narrows the candidates (best first, at least one), purely, and says why. A `draw` is one
 * that leaves a single candidate and ends the stack. To add one: a file here and a row in strategy-catalog.ts.
 */
import type { z } from 'zod';
import type { SelectionContext } from '../candidate.ts';
import type { ScoredCandidate } from '../rerank.ts';

/** Fewer candidates than before, in their order, and why in words; null where the strategy has no opinion. */
export interface Narrowed {
  readonly candidates: readonly ScoredCandidate[];
  readonly note: string;
}

export type StrategyKind = 'narrow' | 'draw';

/** A strategy with its parameters: one step of a stack. */
export interface BoundStrategy {
  readonly name: string;
  readonly kind: StrategyKind;
  /** With defaults. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** An empty list counts as no opinion: a strategy is a wish, not a rule. */
  narrow(candidates: readonly ScoredCandidate[], context: SelectionContext): Narrowed | null;
}

export interface StrategyRow {
  readonly name: string;
  readonly kind: StrategyKind;
  readonly about: string;
  /** Strict; each parameter with its default and a description. */
  readonly parameters: z.ZodObject;
  /** Error: a ZodError for parameters that do not fit. */
  bind(parameters: unknown): BoundStrategy;
}

interface StrategySpec<Parameters extends z.ZodObject> {
  readonly name: string;
  readonly kind: StrategyKind;
  readonly about: string;
  readonly parameters: Parameters;
  narrow(
    candidates: readonly ScoredCandidate[],
    parameters: z.output<Parameters>,
    context: SelectionContext,
  ): Narrowed | null;
}

export function strategyRow<Parameters extends z.ZodObject>(spec: StrategySpec<Parameters>): StrategyRow {
  const { name, kind, about, parameters } = spec;
  return {
    name,
    kind,
    about,
    parameters,
    bind(given) {
      const bound = parameters.parse(given);
      return {
        name,
        kind,
        parameters: bound,
        narrow: (candidates, context) => spec.narrow(candidates, bound, context),
      };
    },
  };
}
