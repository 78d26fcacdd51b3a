import { describe, expect, it, vi } from 'vitest';
import { FlatIndex, HnswIndex, type VectorRows } from '../../src/vector-index/index.ts';
import { vectorIndexContract } from '../contracts/vector-index.contract.ts';
import { clusteredRows, randomUnit, rowOf, seededRandom, unit } from './sample-vectors.ts';

vectorIndexContract('HnswIndex', (dimensions) => HnswIndex.empty(dimensions));
vectorIndexContract('HnswIndex without exact scans of small sets', (dimensions) =>
  HnswIndex.empty(dimensions, { exactUpTo: 0 }),
);

/** Share of the true ten nearest found, over `queries` vectors beside the stored ones. */
function recallAt10(index: HnswIndex, truth: FlatIndex, rows: VectorRows, queries: number): number {
  const random = seededRandom(99);
  let found = 0;
  for (let i = 0; i < queries; i++) {
    const near = rowOf(rows, Math.floor(random() * rows.ids.length));
    const noise = randomUnit(rows.dimensions, random);
    const query = unit(Array.from(near, (value, j) => value + 0.4 * (noise[j] ?? 0)));
    const expected = new Set(truth.search(query, 10).map((neighbor) => neighbor.id));
    for (const neighbor of index.search(query, 10)) if (expected.has(neighbor.id)) found++;
  }
  return found / (queries * 10);
}

describe('HnswIndex', () => {
  const rows = clusteredRows(2_000, 64, 20);

  it('finds 99 % of the true ten nearest when the data came sorted by cluster', () => {
    expect(recallAt10(HnswIndex.build(rows), FlatIndex.fromRows(rows), rows, 100)).toBeGreaterThanOrEqual(0.99);
  });

  it('finds 99 % of them with 40 % removed, whole clusters among them, and never a removed one', () => {
    const truth = FlatIndex.fromRows({ ...rows, vectors: rows.vectors.slice() });
    const index = HnswIndex.empty(64);
    for (const [i, id] of rows.ids.entries()) index.upsert(id, rowOf(rows, i));
    const random = seededRandom(5);
    const removed = new Set<string>();
    for (const [i, id] of rows.ids.entries()) {
      if (i >= 400 && random() > 0.25) continue;
      removed.add(id);
      expect(index.remove(id)).toBe(true);
      truth.remove(id);
    }
    expect(removed.size).toBeGreaterThan(750);
    expect(recallAt10(index, truth, rows, 100)).toBeGreaterThanOrEqual(0.99);
    for (let i = 0; i < 400; i += 10) {
      const found = index.search(rowOf(rows, i), 10);
      expect(found).toHaveLength(10);
      expect(found.filter((neighbor) => removed.has(neighbor.id))).toEqual([]);
    }
  });

  it('ranks strays at one product each: the nearest are kept in order, never all of them', () => {
    const index = HnswIndex.build({ ...rows, vectors: rows.vectors.slice() });
    const query = randomUnit(64, seededRandom(17));
    index.setStrays(rows.ids);
    const original = Array.prototype.splice;
    const splice = vi.spyOn(Array.prototype, 'splice');
    let moved = 0;
    splice.mockImplementation(function (this: unknown[], start: number, ...rest: unknown[]) {
      moved += this.length - start;
      return Reflect.apply(original, this, [start, ...rest]);
    });
    const found = index.search(query, 10);
    splice.mockRestore();
    expect(found).toEqual(index.searchExactly(query, 10));
    expect(moved).toBeLessThan(2 * rows.ids.length);
  });

  it('finds vectors that come after many were removed', () => {
    const index = HnswIndex.build({ ...rows, vectors: rows.vectors.slice() });
    for (const id of rows.ids.slice(0, 900)) index.remove(id);
    const random = seededRandom(11);
    const late = Array.from({ length: 200 }, () => randomUnit(64, random));
    for (const [i, vector] of late.entries()) index.upsert(`late-${i}`, vector);
    for (const [i, vector] of late.entries()) expect(index.search(vector, 1)[0]?.id).toBe(`late-${i}`);
  });

  it('keeps finding in the graph after a third of the vectors was replaced, the old ones never', () => {
    const small = clusteredRows(600, 16, 8);
    const index = HnswIndex.build({ ...small, vectors: small.vectors.slice() });
    const truth = FlatIndex.fromRows({ ...small, vectors: small.vectors.slice() });
    for (let i = 0; i < 600; i += 3) {
      index.upsert(`id-${i}`, rowOf(small, (i + 301) % 600));
      truth.upsert(`id-${i}`, rowOf(small, (i + 301) % 600));
    }
    expect(index.size).toBe(600);
    for (let i = 0; i < 600; i += 5) {
      expect(index.search(rowOf(small, i), 10)).toEqual(truth.search(rowOf(small, i), 10));
    }
  });

  it('answers the same similarities as the exact scan, to the last bit', () => {
    const exact = FlatIndex.fromRows(rows);
    const index = HnswIndex.build(rows);
    for (let i = 0; i < 2_000; i += 100) {
      const query = rowOf(rows, i);
      const truth = new Map(exact.search(query, 2_000).map((neighbor) => [neighbor.id, neighbor.similarity]));
      for (const neighbor of index.search(query, 10)) expect(neighbor.similarity).toBe(truth.get(neighbor.id));
    }
  });

  it('finds every one of many equal vectors, by id', () => {
    const index = HnswIndex.empty(4, { exactUpTo: 0 });
    for (let i = 299; i >= 0; i--) index.upsert(`id-${String(i).padStart(3, '0')}`, unit([1, 2, 3, 4]));
    for (const topK of [5, 60, 300]) {
      const found = index.search(unit([1, 2, 3, 4]), topK);
      expect(found.map((neighbor) => neighbor.id)).toEqual([...index.ids()].sort().slice(0, topK));
    }
  });

  it.each([{ m: 1 }, { m: 1.5 }, { efConstruction: 0 }, { efSearch: Number.NaN }, { exactUpTo: -1 }])(
    'refuses the options %o',
    (options) => {
      expect(() => HnswIndex.empty(3, options)).toThrow(expect.objectContaining({ code: 'AR_ERR_INVALID_REQUEST' }));
    },
  );

  it('refuses to save a graph with tombstones', () => {
    const index = HnswIndex.build(clusteredRows(10, 4, 2));
    index.remove('id-3');
    expect(() => index.saveGraphTo('never-written')).toThrow(expect.objectContaining({ code: 'AR_ERR_INTERNAL' }));
  });
});
