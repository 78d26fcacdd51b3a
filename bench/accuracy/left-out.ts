/** How far a fit carries over: every family of sets is left out in turn and asked of a fit on the others. */
import { type LeftOutShares, RANKED_BY, type RankedBy } from '../../src/embedding/index.ts';
import type { FieldTrial } from './field-trials.ts';
import { calibrationErrorOf } from './figures.ts';
import { balanced, type FittedRegime, fitRegime, leaderOf, UNSERVED_SHARE } from './regime-fit.ts';

/** What a fit says of trials that it has not seen. */
export interface HeldOutAnswer {
  readonly trial: FieldTrial;
  readonly relevance: number;
  readonly isRight: boolean;
  readonly isNearestRight: boolean;
  readonly weight: number;
}

/** Of more trials, which take long, every second or third tells as much. */
const ENOUGH_TRIALS = 7_000;

export function leaveOut(all: readonly FieldTrial[], by: RankedBy): HeldOutAnswer[] {
  const step = Math.ceil(all.length / ENOUGH_TRIALS);
  const trials = all.filter((_, at) => at % step === 0);
  const families = [...new Set(trials.map(familyOf))];
  if (families.length < 2) return [];
  return families.flatMap((family) => {
    const others = trials.filter((trial) => familyOf(trial) !== family);
    const fitted = fitRegime(others, by);
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

/** Gains under this are none: one more question right of a thousand. */
const LEAST_GAIN = 0.001;

export interface ChosenWay {
  readonly by: RankedBy;
  readonly leftOut: Readonly<Record<RankedBy, LeftOutShares>>;
  /** By the chosen way. */
  readonly answers: readonly HeldOutAnswer[];
}

/**
 * The simplest way of ranking that no finer one beats on families of sets that it was not fitted on: a finer one stays
 * only where more families gain by it than lose, and their mean rises. One family, however much it gains, is not enough.
 */
export function chooseWay(trials: readonly FieldTrial[]): ChosenWay {
  const tried = RANKED_BY.map((by) => {
    const answers = leaveOut(trials, by);
    return { by, answers, shares: sharesOf(answers) };
  });
  let [chosen] = tried;
  if (chosen === undefined) throw new Error('there is no way of ranking');
  for (const way of tried) if (isBetter(way.shares, chosen.shares)) chosen = way;
  const leftOut = Object.fromEntries(tried.map(({ by, shares }) => [by, meansOf(shares)])) as ChosenWay['leftOut'];
  return { by: chosen.by, leftOut, answers: chosen.answers };
}

/** Of the served questions of each family that are right, in registries of its own and among others apart. */
type Shares = ReadonlyMap<string, number>;
const AMONG = ' among others';

function sharesOf(answers: readonly HeldOutAnswer[]): Shares {
  const groups = new Map<string, HeldOutAnswer[]>();
  for (const answer of answers) {
    const { trial } = answer;
    const key = familyOf(trial) + (trial.cell.includes('crowded') ? AMONG : '');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [answer]);
    else group.push(answer);
  }
  return new Map([...groups].map(([key, group]) => [key, servedRight(group, ({ isRight }) => isRight)]));
}

function isBetter(finer: Shares, simpler: Shares): boolean {
  const gains = [...finer].map(([key, share]) => share - (simpler.get(key) ?? 0));
  const won = gains.filter((gain) => gain >= LEAST_GAIN).length;
  const lost = gains.filter((gain) => gain <= -LEAST_GAIN).length;
  return won > lost && gains.reduce((sum, gain) => sum + gain, 0) / gains.length >= LEAST_GAIN;
}

/** Every family weighs the same. */
function meansOf(shares: Shares): LeftOutShares {
  const mean = (isAmong: boolean): number | null => {
    const own = [...shares].flatMap(([key, share]) => (key.endsWith(AMONG) === isAmong ? [share] : []));
    return own.length === 0 ? null : Math.round((own.reduce((sum, share) => sum + share, 0) / own.length) * 1e4) / 1e4;
  };
  return { own: mean(false), among: mean(true) };
}

export function servedRight(answers: readonly HeldOutAnswer[], holds: (answer: HeldOutAnswer) => boolean): number {
  let served = 0;
  let right = 0;
  for (const answer of answers) {
    if (!answer.trial.isServed) continue;
    served += answer.weight;
    if (holds(answer)) right += answer.weight;
  }
  return right / served;
}

/** Right among the served, in the service's order and by similarity alone; and the calibration error. */
export function told(answers: readonly HeldOutAnswer[]): string {
  const fused = servedRight(answers, ({ isRight }) => isRight);
  const nearest = servedRight(answers, ({ isNearestRight }) => isNearestRight);
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const hits = `hit@1 ${percent(fused)} (similarity alone ${percent(nearest)})`;
  return `${answers.length} questions, ${hits}, calibration error ${percent(calibrationErrorOf(answers))}`;
}
