import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlatIndex, HnswIndex, LayeredIndex, type LoadedVersion, rowsOf } from '../../src/vector-index/index.ts';
import type { IndexVersionInfo, Neighbor, VectorIndex } from '../../src/vector-index/vector-index.ts';

/**
 * Random lives of an index against a model of ten lines. Numbers are multiples of 1/16, so that every sum is exact and
 * equal similarities are common: the order of equal ones is part of the law.
 */
const DIMENSIONS = 5;

type Step =
  | { readonly do: 'upsert'; readonly id: string; readonly vector: Float32Array }
  | { readonly do: 'remove'; readonly id: string }
  | { readonly do: 'search'; readonly query: Float32Array; readonly topK: number }
  | { readonly do: 'build'; readonly kind: 'flat' | 'hnsw' }
  | { readonly do: 'swap'; readonly pick: number };

const vectors = fc
  .array(fc.integer({ min: -7, max: 7 }), { minLength: DIMENSIONS, maxLength: DIMENSIONS })
  .map((numbers) => Float32Array.from(numbers, (value) => value / 16));
const ids = fc.integer({ min: 0, max: 24 }).map((n) => `id-${n}`);

const upserts = fc.record({ do: fc.constant('upsert' as const), id: ids, vector: vectors });
const removals = fc.record({ do: fc.constant('remove' as const), id: ids });
const searches = fc.record({
  do: fc.constant('search' as const),
  query: vectors,
  topK: fc.integer({ min: 1, max: 30 }),
});
const builds = fc.record({
  do: fc.constant('build' as const),
  kind: fc.constantFrom('flat' as const, 'hnsw' as const),
});
const swaps = fc.record({ do: fc.constant('swap' as const), pick: fc.nat(20) });

function searchModel(model: ReadonlyMap<string, Float32Array>, query: Float32Array, topK: number): Neighbor[] {
  return [...model]
    .map(([id, vector]) => ({ id, similarity: vector.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0) }))
    .sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? -1 : 1))
    .slice(0, topK);
}

/** Takes every step on both; `model` starts as what `index` holds. */
function live(
  index: VectorIndex,
  steps: readonly Step[],
  onOther: (step: Step) => void = () => {},
  model = new Map<string, Float32Array>(),
): void {
  for (const step of steps) {
    if (step.do === 'upsert') {
      index.upsert(step.id, step.vector);
      model.set(step.id, step.vector);
    } else if (step.do === 'remove') {
      expect(index.remove(step.id)).toBe(model.delete(step.id));
    } else if (step.do === 'search') {
      expect(index.search(step.query, step.topK)).toEqual(searchModel(model, step.query, step.topK));
    } else onOther(step);
    expect(index.size).toBe(model.size);
  }
  expect([...index.ids()].sort()).toEqual([...model.keys()].sort());
  for (const [id, vector] of model) expect(index.vectorOf(id)).toEqual(vector);
}

function versionOf(index: VectorIndex, number: number): LoadedVersion {
  return { info: { id: `v${String(number).padStart(6, '0')}` } as IndexVersionInfo, index };
}

describe('every VectorIndex', () => {
  const steps = fc.array(fc.oneof({ arbitrary: upserts, weight: 4 }, removals, searches), { maxLength: 80 });

  it('agrees with a plain list: flat', () => {
    fc.assert(fc.property(steps, (all) => live(new FlatIndex(DIMENSIONS), all)));
  });

  it('agrees with a plain list: graph', () => {
    // Enough that the graph itself answers, few enough that its beam sees them all.
    const first = fc.array(vectors, { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(first, steps, (start, all) => {
        const index = HnswIndex.empty(DIMENSIONS, { exactUpTo: 0 });
        const model = new Map(start.map((vector, i) => [`id-${i}`, vector]));
        for (const [id, vector] of model) index.upsert(id, vector);
        live(index, all, () => {}, model);
      }),
    );
  });

  it('agrees with a plain list: layers, with versions built and swapped at any time', () => {
    // As with content hashes, an id always has the same vector here.
    const vectorOf = fc.array(vectors, { minLength: 25, maxLength: 25 });
    const anyStep = fc.oneof({ arbitrary: upserts, weight: 4 }, removals, searches, builds, swaps);
    fc.assert(
      fc.property(vectorOf, fc.array(anyStep, { maxLength: 80 }), (byId, all) => {
        const fixed = all.map((step) =>
          step.do === 'upsert' ? { ...step, vector: byId[Number(step.id.slice(3))] ?? step.vector } : step,
        );
        const index = new LayeredIndex(DIMENSIONS);
        const versions: LoadedVersion[] = [];
        live(index, fixed, (step) => {
          if (step.do === 'build') {
            const rows = rowsOf(index);
            const built = step.kind === 'flat' ? FlatIndex.fromRows(rows) : HnswIndex.build(rows);
            versions.push(versionOf(built, versions.length + 1));
          } else if (step.do === 'swap' && versions.length > 0) {
            const version = versions[step.pick % versions.length];
            if (version !== undefined) index.swapBase(version);
          }
        });
      }),
    );
  });

  it('agrees with a plain list: layers whose ids change their vectors over one version', () => {
    fc.assert(
      fc.property(steps, fc.array(vectors, { minLength: 10, maxLength: 10 }), (all, first) => {
        const model = new Map(first.map((vector, i) => [`id-${i}`, vector]));
        const base = new FlatIndex(DIMENSIONS);
        for (const [id, vector] of model) base.upsert(id, vector);
        live(new LayeredIndex(DIMENSIONS, versionOf(base, 1)), all, () => {}, model);
      }),
    );
  });
});
