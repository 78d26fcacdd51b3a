/** Questions asked of registries of several sizes, with the evidence that the service would have; and fits on them. */
import { canonicalText } from '../../src/core/index.ts';
import type { ModelRow } from '../../src/embedding/index.ts';
import { type Field, fieldOf, RANKING_FEATURES, trustRow } from '../../src/routing/relevance/relevance-model.ts';
import { fitLogistic } from '../calibration/logistic-fit.ts';
import { type RoutingSet, seededRandom, shuffled } from '../calibration/routing-sets.ts';
import { chooseCapabilities } from '../calibration/trials.ts';
import { fitConditional } from './conditional-fit.ts';
import { calibrationErrorOf } from './figures.ts';
import { TrialRegistry, textsOfDocument } from './trial-registry.ts';
import type { VectorOf } from './vector-cache.ts';

export interface FieldTrial {
  /** Set, languages and size: each weighs the same in a fit. */
  readonly cell: string;
  /** Number of the registry drawn; the halves of a cross check are told apart by it. */
  readonly registry: number;
  readonly capabilityCount: number;
  readonly isServed: boolean;
  readonly field: Field;
  readonly isRight: readonly boolean[];
}

const SERVED_PER_REGISTRY = 60;
const UNSERVED_PER_REGISTRY = 30;
/** A request that nothing serves is taken to be this common; public sets say nothing of it, so it is a choice. */
const UNSERVED_SHARE = 0.3;

export function textsOfSets(sets: readonly RoutingSet[]): string[] {
  return sets.flatMap((set) => [...set.queries.map(({ text }) => text), ...set.capabilities.flatMap(textsOfDocument)]);
}

export function collect(set: RoutingSet, vectorOf: VectorOf, model: ModelRow): FieldTrial[] {
  const random = seededRandom(set.name.length * 1000 + set.capabilities.length);
  const trials: FieldTrial[] = [];
  for (const size of set.sizes) {
    const rounds = size <= 7 ? 16 : size <= 20 ? 8 : size <= 100 ? 4 : 2;
    for (let round = 0; round < rounds; round++) {
      trials.push(...askRegistry(set, size, round, vectorOf, model, random));
    }
    process.stderr.write(`\r${set.name} ${set.languages} ${size}: ${trials.length} questions      `);
  }
  return trials;
}

function askRegistry(
  set: RoutingSet,
  size: number,
  round: number,
  vectorOf: VectorOf,
  model: ModelRow,
  random: () => number,
): FieldTrial[] {
  const queries = shuffled(set.queries, random);
  const chosen = chooseCapabilities(set, queries, size, random);
  const known = new Set(chosen.map(({ id }) => id));
  const isServed = (ids: readonly string[]): boolean => ids.some((id) => known.has(id));
  const served = queries.filter(({ rightIds }) => isServed(rightIds)).slice(0, SERVED_PER_REGISTRY);
  const unserved = queries.filter(({ rightIds }) => !isServed(rightIds)).slice(0, UNSERVED_PER_REGISTRY);
  const registry = new TrialRegistry(chosen, vectorOf, model.dimensions);
  const trained = registry.trainHead();
  return (trained === undefined ? [undefined] : [undefined, trained]).flatMap((head) =>
    [...served, ...unserved].flatMap(({ text, rightIds }) => {
      const { names, evidence } = registry.judged(canonicalText(text), text, model.calibration, head);
      if (evidence.length === 0) return [];
      const trial = { registry: round, capabilityCount: registry.size, isServed: isServed(rightIds) };
      const cell = `${set.name} ${set.languages} ${size}`;
      return [{ ...trial, cell, field: fieldOf(evidence), isRight: names.map((name) => rightIds.includes(name)) }];
    }),
  );
}

export interface FittedRegime {
  readonly ranking: readonly number[];
  readonly trust: readonly number[];
}

export function fitRegime(trials: readonly FieldTrial[]): FittedRegime {
  const weights = balanced(trials);
  const questions = trials.flatMap(({ field, isRight }, at) =>
    isRight.includes(true) ? [{ rows: field.rows, isRight, weight: (weights[at] ?? 0) * trials.length }] : [],
  );
  const ranking = softenWords(fitConditional(questions, RANKING_FEATURES.length), trials);
  const rows = trials.map((trial, at) => {
    const { features, isTrue } = leaderOf(trial, ranking);
    // The fit adds the constant itself, as the last one.
    return { features: features.slice(0, -1), isTrue, weight: weights[at] ?? 0 };
  });
  return { ranking, trust: fitTrust(rows) };
}

/** Tried in this order; the words keep as much of their weight as every set bears. */
const WORD_SHARES = [1, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1];
const WORD_FEATURES: readonly string[] = ['lexical', 'coverage'];

/**
 * Sets differ in what words are worth, and the mean of all can leave one worse off than by cosine alone: the weight
 * of the words falls until no set is (or the worst-off is best off). Where phrases are known no set was.
 */
function softenWords(ranking: readonly number[], trials: readonly FieldTrial[]): readonly number[] {
  if (trials.some(({ field }) => field.regime === 'phrases' || field.regime === 'head')) return ranking;
  const softened = WORD_SHARES.map((share) => {
    const weights = ranking.map((weight, at) =>
      WORD_FEATURES.includes(RANKING_FEATURES[at] ?? '') ? share * weight : weight,
    );
    return { weights, worst: worstGain(weights, trials) };
  });
  const bearable = softened.find(({ worst }) => worst >= 0);
  return (bearable ?? softened.reduce((best, one) => (one.worst > best.worst ? one : best))).weights;
}

/** Over the sets: questions right by these weights less those right by cosine alone, of the served. */
function worstGain(ranking: readonly number[], trials: readonly FieldTrial[]): number {
  const gains = new Map<string, { gain: number; served: number }>();
  for (const trial of trials.filter(({ isServed }) => isServed)) {
    const set = trial.cell.replace(/ \d+$/, '');
    const one = gains.get(set) ?? { gain: 0, served: 0 };
    const cosines = trial.field.rows.map((row) => row[0] ?? 0);
    const isNearestRight = trial.isRight[cosines.indexOf(Math.max(...cosines))] === true;
    one.gain += Number(leaderOf(trial, ranking).isTrue) - Number(isNearestRight);
    one.served += 1;
    gains.set(set, one);
  }
  return Math.min(...[...gains.values()].map(({ gain, served }) => gain / served));
}

/** Features that would speak against their own evidence are left out, but for the number of competitors. */
function fitTrust(rows: readonly { features: readonly number[]; isTrue: boolean; weight: number }[]): number[] {
  const width = rows[0]?.features.length ?? 0;
  const crowd = width - 1;
  let active = Array.from({ length: width }, (_, at) => at).filter((at) =>
    rows.some(({ features }) => features[at] !== rows[0]?.features[at]),
  );
  for (;;) {
    const { coefficients } = fitLogistic(
      rows.map((row) => ({ ...row, features: active.map((at) => row.features[at] ?? 0) })),
    );
    const wrong = active.filter((feature, at) => feature !== crowd && (coefficients[at] ?? 0) < 0);
    if (wrong.length === 0) {
      const weights = Array.from({ length: width }, (_, at) => coefficients[active.indexOf(at)] ?? 0);
      return [...weights, coefficients.at(-1) ?? 0];
    }
    const worst = wrong.reduce((low, one) =>
      (coefficients[active.indexOf(one)] ?? 0) < (coefficients[active.indexOf(low)] ?? 0) ? one : low,
    );
    active = active.filter((one) => one !== worst);
  }
}

function leaderOf(trial: FieldTrial, ranking: readonly number[]): { features: number[]; isTrue: boolean } {
  const { rows } = trial.field;
  const scores = rows.map((row) => row.reduce((sum, value, at) => sum + value * (ranking[at] ?? 0), 0));
  const leader = scores.indexOf(Math.max(...scores));
  return { features: trustRow(rows, scores, trial.capabilityCount), isTrue: trial.isRight[leader] ?? false };
}

/** Every cell weighs the same, in it served to unserved as above. */
function balanced(trials: readonly FieldTrial[]): number[] {
  const countOf = new Map<string, number>();
  const key = (trial: FieldTrial): string => `${trial.cell} ${trial.isServed}`;
  for (const trial of trials) countOf.set(key(trial), (countOf.get(key(trial)) ?? 0) + 1);
  const cells = new Set(trials.map(({ cell }) => cell)).size;
  return trials.map((trial) => {
    const share = trial.isServed ? 1 - UNSERVED_SHARE : UNSERVED_SHARE;
    return share / (countOf.get(key(trial)) ?? 1) / cells;
  });
}

/** Right among the served, in the service's order and by similarity alone; and the calibration error. */
export function heldOut({ ranking, trust }: FittedRegime, trials: readonly FieldTrial[]): string {
  const weights = balanced(trials);
  let served = 0;
  let fused = 0;
  let nearest = 0;
  const answers = trials.map((trial, at) => {
    const weight = weights[at] ?? 0;
    const { features, isTrue } = leaderOf(trial, ranking);
    if (trial.isServed) {
      const best = trial.field.rows.map((row) => row[0] ?? 0);
      served += weight;
      if (isTrue) fused += weight;
      if (trial.isRight[best.indexOf(Math.max(...best))] === true) nearest += weight;
    }
    const odds = features.reduce((sum, value, feature) => sum + value * (trust[feature] ?? 0), 0);
    return { relevance: 1 / (1 + Math.exp(-odds)), isRight: isTrue, weight };
  });
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return `hit@1 ${percent(fused / served)} (similarity alone ${percent(nearest / served)}), calibration error ${calibrationErrorOf(answers).toFixed(3)}`;
}
