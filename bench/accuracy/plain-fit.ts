/**
 * Fits the lines of src/embedding/calibration.ts: for the words alone, when the model is out of order, and for the
 * plain weighted sum, by which the leaders are chosen that finer weights judge.
 */
import { type CalibrationLine, fusedEvidence, logCrowd, type PlainCalibration } from '../../src/embedding/index.ts';
import { RANKING_FEATURES } from '../../src/routing/relevance/relevance-model.ts';
import { fitLogistic } from '../calibration/logistic-fit.ts';
import type { FieldTrial } from './field-trials.ts';
import { balanced, UNSERVED_SHARE } from './regime-fit.ts';

interface Leader {
  readonly evidence: number;
  readonly isRight: boolean;
  readonly capabilityCount: number;
  readonly weight: number;
}

const WEIGHTS = [0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6];
/** The loss is flat near its least; there the smallest weight, since words say nothing across languages. */
const LOSS_TOLERANCE = 1.01;
const [BEST, LEXICAL, NAME_LEXICAL] = (['best', 'lexical', 'nameLexical'] as const).map((feature) =>
  RANKING_FEATURES.indexOf(feature),
) as [number, number, number];

const similarityOf = (row: readonly number[]): number => row[BEST] ?? 0;
/** The features hold its square. */
const strengthOf = (row: readonly number[]): number => Math.sqrt((row[LEXICAL] ?? 0) + (row[NAME_LEXICAL] ?? 0));

export function fitPlain(trials: readonly FieldTrial[]): PlainCalibration {
  const plain = trials.filter(({ field }) => field.regime !== 'head' && field.regime !== 'learnt');
  const weights = balanced(plain, UNSERVED_SHARE);
  const leadersBy = (evidenceOf: (row: readonly number[]) => number): Leader[] =>
    plain.map((trial, at) => leaderBy(trial, evidenceOf, weights[at] ?? 0));
  const tried = WEIGHTS.map((lexicalWeight) => {
    const fused = (row: readonly number[]): number => fusedEvidence(lexicalWeight, similarityOf(row), strengthOf(row));
    return { lexicalWeight, ...fitLine(leadersBy(fused)) };
  });
  const least = Math.min(...tried.map(({ logLoss }) => logLoss));
  const { lexicalWeight, line } = tried.find(({ logLoss }) => logLoss <= least * LOSS_TOLERANCE) as (typeof tried)[0];
  // A question without a single known word has no lexical candidate, and needs no relevance.
  const byWords = leadersBy(strengthOf).filter(({ evidence }) => evidence > 0);
  return { lexicalWeight, hybrid: line, lexical: fitLine(byWords).line };
}

function leaderBy(trial: FieldTrial, evidenceOf: (row: readonly number[]) => number, weight: number): Leader {
  const all = trial.field.rows.map(evidenceOf);
  const evidence = Math.max(...all);
  const isRight = trial.isRight[all.indexOf(evidence)] ?? false;
  return { evidence, isRight, capabilityCount: trial.capabilityCount, weight };
}

function fitLine(leaders: readonly Leader[]): { readonly line: CalibrationLine; readonly logLoss: number } {
  const rows = leaders.map(({ evidence, capabilityCount, isRight, weight }) => ({
    features: [evidence, logCrowd(capabilityCount)],
    isTrue: isRight,
    weight,
  }));
  const { coefficients, logLoss } = fitLogistic(rows);
  const [slope = 0, crowdSlope = 0, intercept = 0] = coefficients.map((value) => Math.round(value * 100) / 100);
  return { line: { slope, crowdSlope, intercept }, logLoss };
}
