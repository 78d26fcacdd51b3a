/**
 * Fits the two models of a regime on trials: the ranking by which the right capability gets the most of the field, and
 * the trust that the leader is right. Every cell of trials weighs the same.
 */
import type { RankedBy } from '../../src/embedding/index.ts';
import { curvatureOf, fitConditional, type Prior, type Question } from '../../src/routing/relevance/conditional-fit.ts';
import { RANKING_FEATURES, type RankingFeature, trustRow } from '../../src/routing/relevance/relevance-model.ts';
import { fitLogistic } from '../calibration/logistic-fit.ts';
import type { FieldTrial } from './field-trials.ts';

/**
 * A request that nothing serves is taken to be this common, and commoner the fewer capabilities there are (four in ten
 * of two, a quarter of six); public sets say nothing of it, so it is a choice.
 */
export const UNSERVED_SHARE = 0.1;
const UNSERVED_OF_ONE = 0.6;
/** While the weights are found; more than there will be, so that they learn to tell the unserved apart. */
const UNSERVED_SHARE_LEARNT = 0.2;

/** A pull towards 0, in questions: small sets must not drive a weight to infinity. */
const RIDGE = 1e-4;
const FLAT: Prior = {
  weights: RANKING_FEATURES.map(() => 0),
  curvature: RANKING_FEATURES.map((_, row) => RANKING_FEATURES.map((_, column) => (row === column ? RIDGE : 0))),
};

export interface FittedRegime {
  readonly by: RankedBy;
  readonly ranking: readonly number[];
  readonly trust: readonly number[];
}

export function fitRegime(trials: readonly FieldTrial[], by: RankedBy): FittedRegime {
  const weights = balanced(trials, UNSERVED_SHARE_LEARNT);
  const questions = questionsOf(trials, weights, (row) => keptOf(row, by));
  const ranking = softenWords(expanded(fitConditional(questions, FLAT), by), trials);
  const rows = trials.map((trial, at) => {
    const { features, isTrue } = leaderOf(trial, ranking);
    // The fit adds the constant itself, as the last one.
    return { features: features.slice(0, -1), isTrue, weight: weights[at] ?? 0 };
  });
  return { by, ranking, trust: rescaled(fitTrust(rows), rows, balanced(trials, UNSERVED_SHARE)) };
}

/** How surely one of these questions holds a ranking: what a registry learns for itself begins from there. */
export function curvatureOfRegime(trials: readonly FieldTrial[], ranking: readonly number[]): number[][] {
  const weights = balanced(trials, UNSERVED_SHARE_LEARNT);
  return curvatureOf(
    questionsOf(trials, weights, (row) => row),
    ranking,
  );
}

/** Of the served. */
function questionsOf(
  trials: readonly FieldTrial[],
  weights: readonly number[],
  rowOf: (row: readonly number[]) => readonly number[],
): Question[] {
  return trials.flatMap(({ field, isRight }, at) =>
    isRight.includes(true)
      ? [{ rows: field.rows.map(rowOf), isRight, weight: (weights[at] ?? 0) * trials.length }]
      : [],
  );
}

const at = (feature: RankingFeature): number => RANKING_FEATURES.indexOf(feature);
const OF_NAMES = [
  [at('nameLexical'), at('lexical')],
  [at('nameCoverage'), at('coverage')],
] as const;

/** The features that a way of ranking looks at; the others stand at 0, and so get no weight. */
function keptOf(row: readonly number[], by: RankedBy): readonly number[] {
  if (by === 'dense') return row.map((value, feature) => (feature === at('best') ? value : 0));
  const kept = [...row];
  for (const [ofName, ofText] of OF_NAMES) {
    if (by === 'allWords') kept[ofText] = (kept[ofText] ?? 0) + (kept[ofName] ?? 0);
    kept[ofName] = 0;
  }
  return kept;
}

/** Where words of bare names count, they count as all others do: too few names are bare for weights of their own. */
function expanded(ranking: readonly number[], by: RankedBy): readonly number[] {
  const weights = [...ranking];
  if (by === 'allWords') for (const [ofName, ofText] of OF_NAMES) weights[ofName] = weights[ofText] ?? 0;
  return weights;
}

/** The same weights on another scale, so that the odds are right where the unserved are as rare as they are. */
function rescaled(
  trust: readonly number[],
  rows: readonly { features: readonly number[]; isTrue: boolean }[],
  weights: readonly number[],
): number[] {
  const { coefficients } = fitLogistic(
    rows.map(({ features, isTrue }, at) => {
      const odds = [...features, 1].reduce((sum, value, feature) => sum + value * (trust[feature] ?? 0), 0);
      return { features: [odds], isTrue, weight: weights[at] ?? 0 };
    }),
  );
  const [scale = 1, shift = 0] = coefficients;
  return trust.map((weight, at) => scale * weight + (at === trust.length - 1 ? shift : 0));
}

/** Tried in this order; the words keep as much of their weight as every set bears. */
const WORD_SHARES = [1, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1];
const WORD_FEATURES: readonly string[] = ['lexical', 'coverage', 'nameLexical', 'nameCoverage'];

/**
 * Sets differ in what words are worth, and the mean of all can leave one worse off than by cosine alone: the weight
 * of the words falls until no set is (or the worst-off is best off). Where phrases are known no set was. Crowded
 * registries do not count here: others may serve a question, and what reads like it is then called wrong.
 */
function softenWords(ranking: readonly number[], trials: readonly FieldTrial[]): readonly number[] {
  if (trials.some(({ field }) => field.regime !== 'names' && field.regime !== 'texts')) return ranking;
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
  for (const trial of trials.filter(({ isServed, cell }) => isServed && !cell.includes('crowded'))) {
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

/** The last of the features, `crowd` and `few`, tell of the size of the registry, which may speak for or against. */
const SIZE_FEATURES = 2;

/** Features that would speak against their own evidence are left out, but for the number of competitors. */
function fitTrust(rows: readonly { features: readonly number[]; isTrue: boolean; weight: number }[]): number[] {
  const width = rows[0]?.features.length ?? 0;
  let active = Array.from({ length: width }, (_, at) => at).filter((at) =>
    rows.some(({ features }) => features[at] !== rows[0]?.features[at]),
  );
  for (;;) {
    const { coefficients } = fitLogistic(
      rows.map((row) => ({ ...row, features: active.map((at) => row.features[at] ?? 0) })),
    );
    const wrong = active.filter((feature, at) => feature < width - SIZE_FEATURES && (coefficients[at] ?? 0) < 0);
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

export function leaderOf(trial: FieldTrial, ranking: readonly number[]): { features: number[]; isTrue: boolean } {
  const { rows } = trial.field;
  const scores = rows.map((row) => row.reduce((sum, value, at) => sum + value * (ranking[at] ?? 0), 0));
  const leader = scores.indexOf(Math.max(...scores));
  return { features: trustRow(rows, scores, trial.capabilityCount), isTrue: trial.isRight[leader] ?? false };
}

/** Cells of fewer questions, served or unserved, weigh less: nine must not count as much as two hundred. */
const FULL_CELL = 60;

/** Every cell weighs the same, in it served to unserved as above. */
export function balanced(trials: readonly FieldTrial[], unservedShare: number): number[] {
  const countOf = new Map<string, number>();
  const key = (trial: FieldTrial): string => `${trial.cell} ${trial.isServed}`;
  for (const trial of trials) countOf.set(key(trial), (countOf.get(key(trial)) ?? 0) + 1);
  const cells = new Set(trials.map(({ cell }) => cell)).size;
  return trials.map((trial) => {
    const unserved = Math.max(unservedShare, UNSERVED_OF_ONE / Math.sqrt(trial.capabilityCount));
    const share = trial.isServed ? 1 - unserved : unserved;
    return share / Math.max(FULL_CELL, countOf.get(key(trial)) ?? 1) / cells;
  });
}
