import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { relevanceOf, UNFITTED } from '../../src/embedding/calibration.ts';
import { loadCalibration, MODELS } from '../../src/embedding/index.ts';

const similarity = fc.double({ min: -1, max: 1, noNaN: true });
const lexicalScore = fc.double({ min: 0, max: 1e6, noNaN: true });
const capabilityCount = fc.integer({ min: 0, max: 1e7 });

const CALIBRATIONS = await Promise.all(
  MODELS.map(async (model) => ({ id: model.id, calibration: (await loadCalibration(model)).calibration })),
);

describe.each([...CALIBRATIONS, { id: 'a model that nothing was fitted for', calibration: UNFITTED }])(
  'relevanceOf with the calibration of $id',
  ({ calibration }) => {
    it('stays within 0 and 1, with and without a vector', () => {
      fc.assert(
        fc.property(fc.option(similarity), lexicalScore, capabilityCount, (cosine, score, count) => {
          const relevance = relevanceOf(calibration, {
            similarity: cosine,
            lexicalScore: score,
            capabilityCount: count,
          });
          expect(relevance).toBeGreaterThanOrEqual(0);
          expect(relevance).toBeLessThanOrEqual(1);
        }),
      );
    });

    it('never falls when similarity or the lexical score rises', () => {
      fc.assert(
        fc.property(similarity, similarity, lexicalScore, lexicalScore, capabilityCount, (a, b, c, d, count) => {
          const low = { similarity: Math.min(a, b), lexicalScore: Math.min(c, d), capabilityCount: count };
          const high = { similarity: Math.max(a, b), lexicalScore: Math.max(c, d), capabilityCount: count };
          expect(relevanceOf(calibration, high)).toBeGreaterThanOrEqual(relevanceOf(calibration, low));
          expect(relevanceOf(calibration, { ...high, similarity: null })).toBeGreaterThanOrEqual(
            relevanceOf(calibration, { ...low, similarity: null }),
          );
        }),
      );
    });

    it('asks for more evidence among more competitors', () => {
      const evidence = { similarity: 0.5, lexicalScore: 2 };
      const few = relevanceOf(calibration, { ...evidence, capabilityCount: 8 });
      const many = relevanceOf(calibration, { ...evidence, capabilityCount: 400 });
      expect(many).toBeLessThan(few);
    });

    it('lets words decide alone when there is no vector', () => {
      const evidence = { similarity: null, capabilityCount: 8 };
      expect(relevanceOf(calibration, { ...evidence, lexicalScore: 0 })).toBeLessThan(0.35);
      expect(relevanceOf(calibration, { ...evidence, lexicalScore: 6 })).toBeGreaterThan(0.5);
    });
  },
);
