/**
 * How one registry weighs its evidence where its head has learnt all that an intent could mean: ranking weights from its
 * own phrases, each asked of a registry that had not seen it. They are the likeliest by those phrases with the fitted
 * ones as a prior, so that few phrases move them little, and are used only where they win on phrases of folds that they
 * were not learnt from. Pure; costs about a millisecond a phrase, as asking it does.
 */
import type { ModelCalibration, RankingWeights } from '../../embedding/index.ts';
import { fitConditional, type Question } from './conditional-fit.ts';
import type { HeldOutPhrase } from './held-out-evidence.ts';
import { FOLDS, logSumExp } from './phrase-head.ts';
import { fieldOf, leaderAt, RANKING_FEATURES } from './relevance-model.ts';

/** Of phrases asked of weights that had not seen their fold, and of the fitted ones. */
export interface OwnRankingScore {
  readonly own: Comeback;
  readonly fitted: Comeback;
  readonly phrases: number;
}

interface Comeback {
  /** Share of the phrases whose capability came first. */
  readonly right: number;
  /** Mean log of the chance that theirs was given. */
  readonly logChance: number;
}

export interface OwnRanking {
  readonly score: OwnRankingScore;
  /** Absent where the fitted ones are as good. */
  readonly ranking?: RankingWeights | undefined;
  /** For the phrases of each fold, learnt without them. */
  readonly ofFolds?: readonly RankingWeights[] | undefined;
}

interface Start {
  readonly weights: readonly number[];
  readonly curvature: readonly (readonly number[])[];
}

interface HeldOutQuestion extends Question {
  readonly fold: number;
}

/** So many phrases weigh as much as all that the fitted weights were fitted on. */
const PRIOR_PHRASES = 100;
/** Keeps a feature that the fit never saw vary from going far. */
const FLOOR = 1e-3;

/** Undefined where the fit left nothing to begin from, or no phrase says anything. */
export function learnOwnRanking(
  phrases: readonly HeldOutPhrase[],
  { fitted }: ModelCalibration,
): OwnRanking | undefined {
  const regime = fitted?.regimes.learnt;
  const questions = phrases.flatMap(questionOf);
  if (regime?.curvature === undefined || questions.length === 0) return undefined;
  const start = { weights: RANKING_FEATURES.map((name) => regime.ranking[name] ?? 0), curvature: regime.curvature };
  const folds = Array.from({ length: FOLDS }, (_, fold) =>
    ownWeights(
      questions.filter((one) => one.fold !== fold),
      start,
    ),
  );
  const own = comebackOf(questions, ({ fold }) => folds[fold] ?? start.weights);
  const before = comebackOf(questions, () => start.weights);
  const score = { own, fitted: before, phrases: questions.length };
  // No phrase fewer comes back, and on the whole they do more surely: among few phrases the likelihood tells sooner.
  if (own.right < before.right || own.logChance <= before.logChance) return { score };
  return { score, ranking: named(ownWeights(questions, start)), ofFolds: folds.map(named) };
}

/** Of fields that the head has learnt in part nothing is learnt, since own weights do not judge them. */
function questionOf({ name, fold, field: { candidates, evidence = [] } }: HeldOutPhrase): HeldOutQuestion[] {
  const { regime, rows } = fieldOf(evidence);
  const isRight = candidates.map(({ entry }) => entry.name === name);
  return regime === 'learnt' && isRight.includes(true) ? [{ rows, isRight, fold, weight: 1 }] : [];
}

/** On the scale of those they begin from, so that a lead by them is as far as it was on the questions of the fit. */
function ownWeights(questions: readonly Question[], { weights: start, curvature }: Start): readonly number[] {
  const pull = curvature.map((line, row) =>
    line.map((value, column) => PRIOR_PHRASES * value + (row === column ? FLOOR : 0)),
  );
  const weights = fitConditional(questions, { weights: start, curvature: pull });
  const scale = Math.sqrt(spread(start, curvature) / spread(weights, curvature));
  return Number.isFinite(scale) ? weights.map((weight) => scale * weight) : start;
}

function spread(weights: readonly number[], curvature: readonly (readonly number[])[]): number {
  return product(
    weights,
    curvature.map((line) => product(line, weights)),
  );
}

function comebackOf(
  questions: readonly HeldOutQuestion[],
  weightsOf: (question: HeldOutQuestion) => readonly number[],
): Comeback {
  let right = 0;
  let logChance = 0;
  for (const question of questions) {
    const weights = weightsOf(question);
    const scores = question.rows.map((row) => product(row, weights));
    if (question.isRight[leaderAt(scores)] === true) right += 1;
    logChance += (scores[question.isRight.indexOf(true)] ?? 0) - logSumExp(scores);
  }
  return { right: right / questions.length, logChance: logChance / questions.length };
}

function product(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
}

function named(weights: readonly number[]): RankingWeights {
  return Object.fromEntries(RANKING_FEATURES.map((name, at) => [name, weights[at] ?? 0]));
}
