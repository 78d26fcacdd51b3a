/**
 * Fits the two models of a regime on trials: the ranking by which the right capability gets the most of the field, and
 * the trust that the leader is right. Every cell of trials weighs the same.
 */
import { RANKING_FEATURES, trustRow } from '../../src/routing/relevance/relevance-model.ts';
import { fitLogistic } from '../calibration/logistic-fit.ts';
import { fitConditional } from './conditional-fit.ts';
import type { FieldTrial } from './field-trials.ts';
import { calibrationErrorOf } from './figures.ts';

/**
 * A request that nothing serves is taken to be this common, and commoner the fewer capabilities there are (four in ten
 * of two, a quarter of six); public sets say nothing of it, so it is a choice.
 */
const UNSERVED_SHARE = 0.1;
const UNSERVED_OF_ONE = 0.6;
/** While the weights are found; more than there will be, so that they learn to tell the unserved apart. */
const UNSERVED_SHARE_LEARNT = 0.2;

export interface FittedRegime {
  readonly ranking: readonly number[];
  readonly trust: readonly number[];
}

export function fitRegime(trials: readonly FieldTrial[]): FittedRegime {
  const weights = balanced(trials, UNSERVED_SHARE_LEARNT);
  const questions = trials.flatMap(({ field, isRight }, at) =>
    isRight.includes(true) ? [{ rows: field.rows, isRight, weight: (weights[at] ?? 0) * trials.length }] : [],
  );
  const ranking = softenWords(fitConditional(questions, RANKING_FEATURES.length), trials);
  const rows = trials.map((trial, at) => {
    const { features, isTrue } = leaderOf(trial, ranking);
    // The fit adds the constant itself, as the last one.
    return { features: features.slice(0, -1), isTrue, weight: weights[at] ?? 0 };
  });
  return { ranking, trust: rescaled(fitTrust(rows), rows, balanced(trials, UNSERVED_SHARE)) };
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

function leaderOf(trial: FieldTrial, ranking: readonly number[]): { features: number[]; isTrue: boolean } {
  const { rows } = trial.field;
  const scores = rows.map((row) => row.reduce((sum, value, at) => sum + value * (ranking[at] ?? 0), 0));
  const leader = scores.indexOf(Math.max(...scores));
  return { features: trustRow(rows, scores, trial.capabilityCount), isTrue: trial.isRight[leader] ?? false };
}

/** Cells of fewer questions, served or unserved, weigh less: nine must not count as much as two hundred. */
const FULL_CELL = 60;

/** Every cell weighs the same, in it served to unserved as above. */
function balanced(trials: readonly FieldTrial[], unservedShare: number): number[] {
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

/** What a fit says of trials that it has not seen. */
export interface HeldOutAnswer {
  readonly trial: FieldTrial;
  readonly relevance: number;
  readonly isRight: boolean;
  readonly isNearestRight: boolean;
  readonly weight: number;
}

/** A third of the trials tells as much, in a third of the time. */
const HELD_OUT_STEP = 3;

/** Every family of sets is left out in turn and asked of a fit on the others: how far the fit carries over. */
export function leaveOut(all: readonly FieldTrial[]): HeldOutAnswer[] {
  const trials = all.filter((_, at) => at % HELD_OUT_STEP === 0);
  const families = [...new Set(trials.map(familyOf))];
  if (families.length < 2) return [];
  return families.flatMap((family) => {
    const fitted = fitRegime(trials.filter((trial) => familyOf(trial) !== family));
    return answersOf(
      fitted,
      trials.filter((trial) => familyOf(trial) === family),
    );
  });
}

function familyOf({ cell }: FieldTrial): string {
  return cell.split(/[ /]/)[0] ?? cell;
}

function answersOf({ ranking, trust }: FittedRegime, trials: readonly FieldTrial[]): HeldOutAnswer[] {
  const weights = balanced(trials, UNSERVED_SHARE);
  return trials.map((trial, at) => {
    const { features, isTrue } = leaderOf(trial, ranking);
    const odds = features.reduce((sum, value, feature) => sum + value * (trust[feature] ?? 0), 0);
    const best = trial.field.rows.map((row) => row[0] ?? 0);
    return {
      trial,
      relevance: 1 / (1 + Math.exp(-odds)),
      isRight: isTrue,
      isNearestRight: trial.isRight[best.indexOf(Math.max(...best))] === true,
      weight: weights[at] ?? 0,
    };
  });
}

/** Right among the served, in the service's order and by similarity alone; and the calibration error. */
export function told(answers: readonly HeldOutAnswer[]): string {
  let served = 0;
  let fused = 0;
  let nearest = 0;
  for (const { trial, isRight, isNearestRight, weight } of answers) {
    if (!trial.isServed) continue;
    served += weight;
    if (isRight) fused += weight;
    if (isNearestRight) nearest += weight;
  }
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const hits = `hit@1 ${percent(fused / served)} (similarity alone ${percent(nearest / served)})`;
  return `${hits}, calibration error ${percent(calibrationErrorOf(answers))}`;
}
