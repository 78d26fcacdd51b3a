import type { GoldenLine } from '../contract/index.ts';
import { type Clock, canonicalText } from '../core/index.ts';
import type { Embedder, ModelCalibration } from '../embedding/index.ts';
import type { RuleSet } from '../rules/index.ts';
import type { Answerer } from './candidate-check.ts';
import { aimAtParts, aimOf } from './decision.ts';
import { meaningOf } from './meaning.ts';
import { Recaller } from './recall.ts';
import type { RoutingOptions } from './routing-options.ts';
import type { Searchable } from './search-view.ts';

export interface GoldenAnswerOptions {
  readonly clock: Clock;
  readonly embedder: Embedder;
  readonly calibration: ModelCalibration;
  readonly rules: { readonly current: RuleSet };
  readonly options: () => RoutingOptions;
}

const EVERY_SCOPE: ReadonlySet<string> = new Set(['*']);

/**
 * What the pipeline takes a line to mean over a given view: rules, exact names, recall, fusion and gate, as for a
 * route by somebody who may reach everything; agents are not looked at, and nothing is counted as a route.
 */
export function goldenAnswerer(sources: GoldenAnswerOptions): Answerer {
  return (view) => answererOver(sources, view);
}

function answererOver(sources: GoldenAnswerOptions, view: Searchable): (line: GoldenLine) => Promise<string | null> {
  const recaller = new Recaller({ ...sources, indexer: view });
  return async ({ namespace, text }) => {
    const options = sources.options();
    const { value: meaning } = await meaningOf(namespace, canonicalText(text), {
      decide: (canonical) => sources.rules.current.tryOut(canonical),
      indexer: view,
      recall: (space, canonical) => recaller.recall(space, canonical, options),
      options,
    });
    // A golden line has one meaning: several are told by all their names, which no line expects.
    const several = meaning.kind === 'recalled' ? aimAtParts(meaning, { namespace }, { indexer: view, options }) : [];
    if (several.length > 0) return several.map(({ aim }) => aim.capabilities[0]?.name ?? null).join(' + ');
    const aim = aimOf(meaning, { namespace }, EVERY_SCOPE, { indexer: view, options });
    return aim.reason === null ? (aim.capabilities[0]?.name ?? null) : null;
  };
}
