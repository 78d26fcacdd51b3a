/**
 * Evidence for one capability -> relevance, 0..1: how often a capability with this much evidence, standing best of its
 * registry, was the right one in the training sets. 0.5 = as likely right as wrong. Pure, and rising in both kinds of
 * evidence, so that it never changes their order. Numbers are fitted by bench/fit.ts.
 */

import type { RelevanceWeights } from './relevance-weights.ts';

/** Logit of relevance = slope * evidence + crowdSlope * ln(capabilities) + intercept. */
export interface CalibrationLine {
  readonly slope: number;
  /** Negative: the best of many competitors scores high by chance more often than the best of few. */
  readonly crowdSlope: number;
  readonly intercept: number;
}

/** Fitted per model on training data, so that thresholds mean the same whatever the model. */
export interface PlainCalibration {
  /** Share of the lexical strength in the fused evidence, 0..1; the rest is similarity. */
  readonly lexicalWeight: number;
  /** For the fused evidence, when the model answered. */
  readonly hybrid: CalibrationLine;
  /** For the lexical strength alone, when the model is degraded. */
  readonly lexical: CalibrationLine;
}

export interface ModelCalibration extends PlainCalibration {
  /** Finer evidence, for when the model answered; absent: `hybrid` decides. */
  readonly fitted?: RelevanceWeights;
}

export interface RelevanceEvidence {
  /** Best cosine over the capability's texts; null when there is no vector to compare. */
  readonly similarity: number | null;
  /** `score` of the lexical hit (not its coverage); 0 when no word met. */
  readonly lexicalScore: number;
  /** Capabilities that were searched. */
  readonly capabilityCount: number;
}

/** Lexical score that counts half; rising it lets long texts with many common words win more. */
const HALF_SCORE = 5;
/** Sizes that the fit has seen; beyond them the line would be a guess. */
const MIN_CAPABILITIES = 2;
const MAX_CAPABILITIES = 5_000;

/** For a model that nothing was fitted for: in the middle of what models need, and right for none. */
export const UNFITTED: PlainCalibration = {
  lexicalWeight: 0.4,
  hybrid: { slope: 12, crowdSlope: -0.5, intercept: -2 },
  lexical: { slope: 12, crowdSlope: -0.7, intercept: -0.6 },
};

export function relevanceOf(calibration: ModelCalibration, evidence: RelevanceEvidence): number {
  const crowd = logCrowd(evidence.capabilityCount);
  const strength = lexicalStrength(evidence.lexicalScore);
  if (evidence.similarity === null) return relevanceOn(calibration.lexical, strength, crowd);
  return relevanceOn(
    calibration.hybrid,
    fusedEvidence(calibration.lexicalWeight, evidence.similarity, strength),
    crowd,
  );
}

/** Unbounded score -> 0..1. */
export function lexicalStrength(score: number): number {
  return score / (score + HALF_SCORE);
}

export function fusedEvidence(lexicalWeight: number, similarity: number, strength: number): number {
  return (1 - lexicalWeight) * similarity + lexicalWeight * strength;
}

export function logCrowd(capabilityCount: number): number {
  return Math.log(Math.min(MAX_CAPABILITIES, Math.max(MIN_CAPABILITIES, capabilityCount)));
}

function relevanceOn(line: CalibrationLine, evidence: number, crowd: number): number {
  return 1 / (1 + Math.exp(-(line.slope * evidence + line.crowdSlope * crowd + line.intercept)));
}
