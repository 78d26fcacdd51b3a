import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auroc, binOf, calibrationError, quantile, reliabilityBins } from '../../../src/routing/evaluation/scores.ts';

/** Every pair compared: what the ranks must come to. */
function naiveAuroc(positives: readonly number[], negatives: readonly number[]): number {
  let won = 0;
  for (const positive of positives) {
    for (const negative of negatives) won += positive > negative ? 1 : positive === negative ? 0.5 : 0;
  }
  return won / (positives.length * negatives.length);
}

describe('auroc', () => {
  it.each([
    [[1], [0], 1],
    [[0], [1], 0],
    [[0.5], [0.5], 0.5],
    [[0.9, 0.4], [0.5, 0.1], 0.75],
  ])('of %j over %j is %d', (positives, negatives, expected) => {
    expect(auroc(positives, negatives)).toBe(expected);
  });

  it('is null without one of each', () => {
    expect([auroc([], [1]), auroc([1], [])]).toEqual([null, null]);
  });

  it('counts the pairs that a naive count does', () => {
    const scores = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(scores, scores, (positives, negatives) => {
        expect(auroc(positives, negatives)).toBeCloseTo(naiveAuroc(positives, negatives), 12);
      }),
    );
  });
});

describe('calibration', () => {
  it('is the mean gap of the bins, weighed by their lines', () => {
    const claims = [
      { relevance: 0.95, isRight: true },
      { relevance: 0.95, isRight: true },
      { relevance: 0.95, isRight: false },
      { relevance: 0.15, isRight: false },
    ];
    // Bin 0.9-1.0: said 0.95, right 2/3, three of four lines; bin 0.1-0.2: said 0.15, right 0.
    expect(calibrationError(reliabilityBins(claims))).toBeCloseTo(0.75 * (0.95 - 2 / 3) + 0.25 * 0.15, 12);
  });

  it('is null without a claim, and 0 where what was said came true', () => {
    expect(calibrationError(reliabilityBins([]))).toBeNull();
    expect(calibrationError(reliabilityBins([{ relevance: 1, isRight: true }]))).toBe(0);
  });

  it('keeps every claim in one bin, and the error between 0 and 1', () => {
    const claim = fc.record({ relevance: fc.double({ min: 0, max: 1, noNaN: true }), isRight: fc.boolean() });
    fc.assert(
      fc.property(fc.array(claim, { minLength: 1, maxLength: 50 }), (claims) => {
        const bins = reliabilityBins(claims);
        expect(bins.reduce((sum, bin) => sum + bin.lines, 0)).toBe(claims.length);
        const error = calibrationError(bins) ?? -1;
        expect(error).toBeGreaterThanOrEqual(0);
        expect(error).toBeLessThanOrEqual(1);
      }),
    );
  });

  it.each([
    [0, 0],
    [0.0999, 0],
    [0.1, 1],
    [0.95, 9],
    [1, 9],
  ])('puts %d into bin %d', (relevance, bin) => {
    expect(binOf(relevance)).toBe(bin);
  });
});

describe('quantile', () => {
  it.each([
    [[3, 1, 2], 0.5, 2],
    [[1, 2, 3, 4], 0.5, 2],
    [[1, 2, 3, 4], 0.99, 4],
    [[7], 0.01, 7],
  ])('of %j at %d is %d', (values, share, expected) => {
    expect(quantile(values, share)).toBe(expected);
  });

  it('is null of none', () => {
    expect(quantile([], 0.5)).toBeNull();
  });
});
