import { describe, expect, it } from 'vitest';
import { FlatIndex } from '../../src/vector-index/index.ts';
import { vectorIndexContract } from '../contracts/vector-index.contract.ts';
import { clusteredRows, randomUnit, rowOf, seededRandom, unit } from './sample-vectors.ts';

vectorIndexContract('FlatIndex', (dimensions) => new FlatIndex(dimensions));

describe('FlatIndex', () => {
  it('finds what sorting every similarity finds', () => {
    const rows = clusteredRows(500, 13, 10);
    const index = FlatIndex.fromRows(rows);
    const query = randomUnit(13, seededRandom(3));
    const sorted = rows.ids
      .map((id, i) => ({ id, similarity: rowOf(rows, i).reduce((sum, value, j) => sum + value * (query[j] ?? 0), 0) }))
      .sort((a, b) => b.similarity - a.similarity);
    for (const topK of [1, 10, 499, 500]) {
      expect(index.search(query, topK).map((found) => found.id)).toEqual(
        sorted.slice(0, topK).map((found) => found.id),
      );
    }
  });

  it('refuses rows that do not fit their ids, an id twice, and one bad row among good ones', () => {
    const vectors = Float32Array.of(1, 0, 0, 1);
    const invalid = expect.objectContaining({ code: 'AR_ERR_INVALID_REQUEST' });
    expect(() => FlatIndex.fromRows({ dimensions: 2, ids: ['a'], vectors })).toThrow(invalid);
    expect(() => FlatIndex.fromRows({ dimensions: 2, ids: ['a', 'a'], vectors })).toThrow(invalid);
    vectors[3] = Number.NaN;
    expect(() => FlatIndex.fromRows({ dimensions: 2, ids: ['a', 'b'], vectors })).toThrow(invalid);
  });

  it('grows from given rows', () => {
    const index = FlatIndex.fromRows({ dimensions: 2, ids: ['a'], vectors: Float32Array.of(1, 0) });
    index.upsert('b', unit([1, 1]));
    index.upsert('c', unit([0, 1]));
    expect(index.search(unit([0, 1]), 3).map((found) => found.id)).toEqual(['c', 'b', 'a']);
    expect(index.vectorOf('a')).toEqual(Float32Array.of(1, 0));
  });
});
