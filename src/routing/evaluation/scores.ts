/** The arithmetic of an evaluation: pure, over plain numbers. */

/**
 * Chance that a positive scores above a negative, ties counted half; null without one of each. By ranks: n log n,
 * where comparing all pairs would be n^2.
 */
export function auroc(positives: readonly number[], negatives: readonly number[]): number | null {
  if (positives.length === 0 || negatives.length === 0) return null;
  const all = [
    ...positives.map((score) => ({ score, isPositive: true })),
    ...negatives.map((score) => ({ score, isPositive: false })),
  ].sort((a, b) => a.score - b.score);
  let rankSum = 0;
  for (let start = 0; start < all.length; ) {
    let end = start;
    let tiedPositives = 0;
    while (end < all.length && all[end]?.score === all[start]?.score) {
      if (all[end]?.isPositive) tiedPositives++;
      end++;
    }
    // Ranks start + 1 .. end share their mean.
    rankSum += tiedPositives * ((start + 1 + end) / 2);
    start = end;
  }
  const count = positives.length;
  return (rankSum - (count * (count + 1)) / 2) / (count * negatives.length);
}

export interface Claim {
  /** 0..1. */
  readonly relevance: number;
  readonly isRight: boolean;
}

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly lines: number;
  readonly meanRelevance: number | null;
  readonly shareRight: number | null;
}

export const BINS = 10;

/** The tenth that a share falls into; 1 belongs to the last. */
export const binOf = (share: number): number => Math.min(BINS - 1, Math.max(0, Math.floor(share * BINS)));

export function reliabilityBins(claims: readonly Claim[]): Bin[] {
  const sums = Array.from({ length: BINS }, () => ({ lines: 0, relevance: 0, right: 0 }));
  for (const { relevance, isRight } of claims) {
    const sum = sums[binOf(relevance)];
    if (sum === undefined) continue;
    sum.lines += 1;
    sum.relevance += relevance;
    if (isRight) sum.right += 1;
  }
  return sums.map(({ lines, relevance, right }, at) => ({
    from: at / BINS,
    to: (at + 1) / BINS,
    lines,
    meanRelevance: lines === 0 ? null : relevance / lines,
    shareRight: lines === 0 ? null : right / lines,
  }));
}

/** Expected calibration error; null without a claim. */
export function calibrationError(bins: readonly Bin[]): number | null {
  const lines = bins.reduce((sum, bin) => sum + bin.lines, 0);
  if (lines === 0) return null;
  return bins.reduce(
    (sum, bin) => sum + (bin.lines / lines) * Math.abs((bin.meanRelevance ?? 0) - (bin.shareRight ?? 0)),
    0,
  );
}

/** The smallest value that at least `share` of all values do not exceed; null of none. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

export const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
