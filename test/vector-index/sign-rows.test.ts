import { describe, expect, it } from 'vitest';
import { FlatIndex, LayeredIndex } from '../../src/vector-index/index.ts';
import { SignRows } from '../../src/vector-index/sign-rows.ts';
import { clusteredRows, rowOf } from './sample-vectors.ts';

const signsOf = (text: string): Float32Array => Float32Array.from(text, (sign) => (sign === '-' ? -1 : 1));

describe('SignRows', () => {
  it('takes the rows with the fewest differing signs, over more than one word', () => {
    const rows = new SignRows(40);
    const query = signsOf('+'.repeat(40));
    for (const [row, differing] of [40, 3, 0, 17, 1, 33].entries()) {
      rows.set(row, signsOf('-'.repeat(differing) + '+'.repeat(40 - differing)));
    }
    expect(rows.nearest(query, 6, 1)).toEqual([2]);
    expect(rows.nearest(query, 6, 3).toSorted()).toEqual([1, 2, 4]);
    expect(rows.nearest(query, 6, 100)).toHaveLength(6);
    expect(rows.nearest(query, 2, 100).toSorted()).toEqual([0, 1]);
  });
});

describe('a rough search', () => {
  const rows = clusteredRows(2_000, 96, 40);
  const share = (index: FlatIndex | LayeredIndex, truth: FlatIndex): number => {
    let found = 0;
    for (let i = 0; i < 2_000; i += 20) {
      const nearest = new Set(truth.search(rowOf(rows, i), 8).map(({ id }) => id));
      found += index.searchRoughly(rowOf(rows, i), 8).filter(({ id }) => nearest.has(id)).length;
    }
    return found / 800;
  };

  it('finds most of the true nearest, with their true similarities', () => {
    const index = FlatIndex.fromRows(rows);
    expect(share(index, index)).toBeGreaterThan(0.7);
    const query = rowOf(rows, 5);
    const [own] = index.searchRoughly(query, 8);
    expect(own).toEqual({ id: 'id-5', similarity: index.similarityOf('id-5', query) });
  });

  it('follows inserts, updates and removals', () => {
    const index = new LayeredIndex(96);
    const truth = FlatIndex.fromRows(rows);
    for (let i = 0; i < 2_000; i++) {
      index.upsert(`id-${i}`, rowOf(rows, (i + 700) % 2_000));
      if (i === 600) index.searchRoughly(rowOf(rows, 0), 1);
    }
    for (let i = 0; i < 2_000; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    expect(share(index, truth)).toBeGreaterThan(0.7);
    for (let i = 0; i < 2_000; i += 3) for (const changed of [index, truth]) changed.remove(`id-${i}`);
    expect(share(index, truth)).toBeGreaterThan(0.7);
    expect(index.searchRoughly(rowOf(rows, 3), 8).map(({ id }) => id)).not.toContain('id-3');
  });

  it('is exact where that costs no more', () => {
    const index = new FlatIndex(96);
    for (let i = 0; i < 200; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    expect(index.searchRoughly(rowOf(rows, 9), 20)).toEqual(index.search(rowOf(rows, 9), 20));
  });
});
