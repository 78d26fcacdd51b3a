import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupByLength, RUN_COST_TOKENS } from '../../src/embedding/length-groups.ts';

const lengths = fc.array(fc.integer({ min: 2, max: 128 }), { maxLength: 16 });
const costOf = (groups: readonly (readonly number[])[], of: readonly number[]): number =>
  groups.reduce((sum, group) => sum + RUN_COST_TOKENS + group.length * Math.max(...group.map((i) => of[i] ?? 0)), 0);

describe('groupByLength', () => {
  it('holds every text once', () => {
    fc.assert(
      fc.property(lengths, (of) => {
        const indexes = groupByLength(of).flat();
        expect(indexes.sort((a, b) => a - b)).toEqual(of.map((_, index) => index));
      }),
    );
  });

  it('never costs more than one run of all or a run each', () => {
    fc.assert(
      fc.property(lengths, (of) => {
        const each = of.map((_, index) => [index]);
        const all = of.length === 0 ? [] : [each.flat()];
        expect(costOf(groupByLength(of), of)).toBeLessThanOrEqual(Math.min(costOf(all, of), costOf(each, of)));
      }),
    );
  });

  it('keeps equal lengths together and an outlier apart', () => {
    expect(groupByLength([8, 100, 8, 8])).toEqual([[0, 2, 3], [1]]);
  });
});
