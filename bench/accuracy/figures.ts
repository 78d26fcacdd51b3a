/** Figures of answered questions. Shares are 0..1; NaN where a figure has no meaning. */

export interface Outcome {
  /** Relevance or score of the leader. */
  readonly relevance: number;
  /** Place of the first right capability, from 1; null when it is not among the answers. */
  readonly rank: number | null;
  /** False: the registry has nothing for this question. */
  readonly isServed: boolean;
}

export function hitAt(outcomes: readonly Outcome[], places: number): number {
  const served = outcomes.filter(({ isServed }) => isServed);
  return served.filter(({ rank }) => rank !== null && rank <= places).length / served.length;
}

/** Chance that a served question's leader is above an unserved one's, ties counting half. */
export function auroc(outcomes: readonly Outcome[]): number {
  const sorted = [...outcomes].sort((left, right) => left.relevance - right.relevance);
  let rankSum = 0;
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (end < sorted.length && sorted[end]?.relevance === sorted[start]?.relevance) end++;
    rankSum += ((start + end + 1) / 2) * sorted.slice(start, end).filter(({ isServed }) => isServed).length;
    start = end;
  }
  const served = outcomes.filter(({ isServed }) => isServed).length;
  return (rankSum - (served * (served + 1)) / 2) / (served * (outcomes.length - served));
}

/** Share of the unserved that is refused when the threshold lets this share of the served through. */
export function refusedAt(outcomes: readonly Outcome[], servedShare: number): number {
  const served = outcomes.filter(({ isServed }) => isServed).map(({ relevance }) => relevance);
  const unserved = outcomes.filter(({ isServed }) => !isServed);
  served.sort((a, b) => b - a);
  const threshold = served[Math.ceil(served.length * servedShare) - 1] ?? 0;
  return unserved.filter(({ relevance }) => relevance < threshold).length / unserved.length;
}

export interface ReliabilityRow {
  readonly from: number;
  readonly questions: number;
  readonly meanRelevance: number;
  readonly rightShare: number;
}

const BINS = 10;

export function reliability(outcomes: readonly Outcome[]): ReliabilityRow[] {
  return Array.from({ length: BINS }, (_, bin) => {
    const own = outcomes.filter(({ relevance }) => Math.min(BINS - 1, Math.floor(relevance * BINS)) === bin);
    const right = own.filter(({ rank }) => rank === 1).length;
    const sum = own.reduce((total, { relevance }) => total + relevance, 0);
    const meanRelevance = sum / own.length;
    return { from: bin / BINS, questions: own.length, meanRelevance, rightShare: right / own.length };
  }).filter(({ questions }) => questions > 0);
}

/** Expected calibration error over ten bins of relevance. */
export function calibrationErrorOf(
  answers: readonly { readonly relevance: number; readonly isRight: boolean; readonly weight: number }[],
): number {
  const gaps = new Array<number>(BINS).fill(0);
  let total = 0;
  for (const { relevance, isRight, weight } of answers) {
    const bin = Math.min(BINS - 1, Math.floor(relevance * BINS));
    gaps[bin] = (gaps[bin] ?? 0) + weight * (relevance - (isRight ? 1 : 0));
    total += weight;
  }
  return gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / total;
}

export function calibrationError(outcomes: readonly Outcome[]): number {
  return calibrationErrorOf(outcomes.map(({ relevance, rank }) => ({ relevance, isRight: rank === 1, weight: 1 })));
}
