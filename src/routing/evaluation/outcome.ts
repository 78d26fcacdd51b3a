/** What became of one labelled text, and the scores of many. */
import type { EvaluationScores } from '../../contract/index.ts';
import { auroc, type Claim, calibrationError, reliabilityBins, shareOf } from './scores.ts';

export interface Outcome {
  readonly text: string;
  readonly namespace: string;
  readonly language: string;
  /** null: out of scope. */
  readonly expected: string | null;
  /** The capability that was meant by the service, with or without a free agent (`a + b`: several); null: no_match. */
  readonly answered: string | null;
  /** Best first, whatever their relevance. */
  readonly ranked: readonly string[];
  /** Of the ranked first; null where nothing was ranked. */
  readonly relevance: number | null;
  /** False for rules and exact names: their relevance of 1 is no claim of the calibration. */
  readonly isByMeaning: boolean;
}

export const RANKED = 10;

export function claimsOf(outcomes: readonly Outcome[]): Claim[] {
  const claims: Claim[] = [];
  for (const { relevance, isByMeaning, ranked, expected } of outcomes) {
    if (isByMeaning && relevance !== null) claims.push({ relevance, isRight: ranked[0] === expected });
  }
  return claims;
}

const reciprocalRank = (ranked: readonly string[], expected: string): number => {
  const at = ranked.slice(0, RANKED).indexOf(expected);
  return at < 0 ? 0 : 1 / (at + 1);
};

export function scoresOf(outcomes: readonly Outcome[]): EvaluationScores {
  const inScope = outcomes.filter((one) => one.expected !== null);
  const outOfScope = outcomes.filter((one) => one.expected === null);
  const refused = outcomes.filter((one) => one.answered === null);
  const hits = (within: number): number =>
    inScope.filter((one) => one.expected !== null && one.ranked.slice(0, within).includes(one.expected)).length;
  const reciprocal = inScope.reduce((sum, one) => sum + reciprocalRank(one.ranked, one.expected ?? ''), 0);
  const rightlyRefused = refused.filter((one) => one.expected === null).length;
  const relevances = (list: readonly Outcome[]): number[] => list.map((one) => one.relevance ?? 0);
  return {
    lines: outcomes.length,
    inScope: inScope.length,
    outOfScope: outOfScope.length,
    hitAt1: shareOf(hits(1), inScope.length),
    hitAt5: shareOf(hits(5), inScope.length),
    mrr: shareOf(reciprocal, inScope.length),
    answeredRight: shareOf(inScope.filter((one) => one.answered === one.expected).length, inScope.length),
    noMatchPrecision: shareOf(rightlyRefused, refused.length),
    noMatchRecall: shareOf(rightlyRefused, outOfScope.length),
    auroc: auroc(relevances(inScope), relevances(outOfScope)),
    calibrationError: calibrationError(reliabilityBins(claimsOf(outcomes))),
  };
}
