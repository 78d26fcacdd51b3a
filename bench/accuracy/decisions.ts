/** What the service would decide, by its own functions: rules apart, everything between a text and a capability. */
import { canonicalText, foldChinese, systemClock } from '../../src/core/index.ts';
import type { Embedder, ModelCalibration, ModelRow } from '../../src/embedding/index.ts';
import { goldenAnswerer } from '../../src/routing/golden-answer.ts';
import { negationOf } from '../../src/routing/intent-negation.ts';
import { piecesOf } from '../../src/routing/intent-pieces.ts';
import { spansOf } from '../../src/routing/intent-split.ts';
import { DEFAULT_ROUTING, type RoutingOptions } from '../../src/routing/routing-options.ts';
import { RuleSet } from '../../src/rules/rule-set.ts';
import { type Learnt, NAMESPACE, type TrialRegistry } from './trial-registry.ts';
import type { VectorOf } from './vector-cache.ts';

/** Of questions that are decided, in shares of the served and of the unserved. */
export interface DecisionFigures {
  readonly right: number;
  /** Served, and another capability answered. */
  readonly wrong: number;
  /** Served, and taken for several intents, rightly or not. */
  readonly split: number;
  readonly refused: number;
  /** NaN without unserved questions. */
  readonly unservedRefused: number;
}

/** Every text that a decision on this one can give to the model. */
export function textsDecided(text: string): string[] {
  const canonical = canonicalText(text);
  const negation = negationOf(canonical);
  const wholes = [canonical, ...(negation?.rest == null ? [] : [negation.rest])];
  const spans = wholes.flatMap((whole) => spansOf(whole, piecesOf(whole)).map((span) => span.text));
  return [...wholes, ...(negation?.denied ?? []).map((denied) => denied.text), ...spans].map(foldChinese);
}

export interface DecisionSources {
  readonly registry: TrialRegistry;
  readonly learnt: Learnt;
  readonly calibration: ModelCalibration;
  readonly model: ModelRow;
  readonly vectorOf: VectorOf;
  readonly options?: Partial<RoutingOptions>;
}

/** A capability, `a + b` for several intents, or null where nothing is answered. */
export function deciderOf(sources: DecisionSources): (text: string) => Promise<string | null> {
  const { registry, learnt, calibration, model, vectorOf } = sources;
  const options = { ...DEFAULT_ROUTING, ...sources.options };
  const embedder = embedderOf(model, vectorOf);
  const rules = { current: RuleSet.empty };
  const answer = goldenAnswerer({ clock: systemClock, embedder, calibration, rules, options: () => options });
  const ask = answer(registry.viewWith(learnt));
  return (text) => ask({ id: text, namespace: NAMESPACE, text, capability: null });
}

export async function decisionFigures(
  decide: (text: string) => Promise<string | null>,
  questions: readonly { readonly text: string; readonly rightIds: readonly string[] }[],
): Promise<DecisionFigures> {
  const counts = { right: 0, wrong: 0, split: 0, refused: 0, unserved: 0, unservedRefused: 0 };
  for (const { text, rightIds } of questions) {
    const decided = await decide(text);
    if (rightIds.length === 0) {
      counts.unserved += 1;
      if (decided === null) counts.unservedRefused += 1;
    } else if (decided === null) counts.refused += 1;
    else if (rightIds.includes(decided)) counts.right += 1;
    else if (decided.includes(' + ')) counts.split += 1;
    else counts.wrong += 1;
  }
  const served = questions.length - counts.unserved;
  return {
    right: counts.right / served,
    wrong: counts.wrong / served,
    split: counts.split / served,
    refused: counts.refused / served,
    unservedRefused: counts.unservedRefused / counts.unserved,
  };
}

/** Of vectors that are there already. */
function embedderOf({ id, fingerprint, dimensions }: ModelRow, vectorOf: VectorOf): Embedder {
  return {
    info: { modelId: id, fingerprint, dimensions },
    health: { state: 'ready' },
    embed: async (texts) => texts.map(vectorOf),
    start: async () => {},
    stopDocuments: () => {},
    stop: async () => {},
    onHealth: () => () => {},
  };
}
