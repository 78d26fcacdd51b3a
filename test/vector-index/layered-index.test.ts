import { describe, expect, it } from 'vitest';
import {
  FlatIndex,
  HnswIndex,
  type IndexVersionInfo,
  LayeredIndex,
  type LoadedVersion,
  rowsOf,
  type VectorIndex,
  type VectorRows,
} from '../../src/vector-index/index.ts';
import { vectorIndexContract } from '../contracts/vector-index.contract.ts';
import { clusteredRows, rowOf } from './sample-vectors.ts';

function versionOf(index: VectorIndex, number: number): LoadedVersion {
  const info: IndexVersionInfo = {
    id: `v00000${number}`,
    modelId: 'model',
    fingerprint: 'fingerprint',
    dimensions: index.dimensions,
    kind: index instanceof HnswIndex ? 'hnsw' : 'flat',
    count: index.size,
    builtAt: '2026-01-01T00:00:00.000Z',
    buildMs: 1,
    by: 'service',
    why: 'start',
    embedded: 0,
    reused: 0,
    removed: 0,
  };
  return { info, index };
}

vectorIndexContract('LayeredIndex with a delta only', (dimensions) => new LayeredIndex(dimensions));
vectorIndexContract('LayeredIndex over an empty version', (dimensions) => {
  return new LayeredIndex(dimensions, versionOf(HnswIndex.empty(dimensions), 1));
});
vectorIndexContract('LayeredIndex over a version with the same ids, all removed', (dimensions) => {
  const index = new LayeredIndex(dimensions);
  const vector = Float32Array.of(1, ...new Array<number>(dimensions - 1).fill(0));
  for (const id of ['east', 'north', 'up', 'a', 'b', ...Array.from({ length: 300 }, (_, i) => `id-${i}`)]) {
    index.upsert(id, vector);
  }
  index.swapBase(versionOf(HnswIndex.build(rowsOf(index)), 1));
  for (const id of index.ids()) index.remove(id);
  return index;
});

describe('LayeredIndex', () => {
  const rows = clusteredRows(400, 16, 8);
  const part = (from: number, to: number): VectorRows => ({
    dimensions: 16,
    ids: rows.ids.slice(from, to),
    vectors: rows.vectors.slice(from * 16, to * 16),
  });
  const everything = (index: VectorIndex): unknown[] => [0, 57, 211, 399].map((i) => index.search(rowOf(rows, i), 400));

  it('is version v000000 until a version is swapped in', () => {
    const index = new LayeredIndex(16);
    expect(index.versionId).toBe('v000000');
    expect(index.deltaShare).toBe(0);
    index.upsert('a', rowOf(rows, 0));
    expect(index.deltaShare).toBe(1);
    index.swapBase(versionOf(FlatIndex.fromRows(rowsOf(index)), 1));
    expect(index.versionId).toBe('v000001');
    expect(index.deltaShare).toBe(0);
    expect(index.versionInfo?.count).toBe(1);
  });

  it('tells how much of it waits for the next version', () => {
    const index = new LayeredIndex(16, versionOf(FlatIndex.fromRows(part(0, 90)), 1));
    for (let i = 90; i < 100; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    expect(index.deltaSize).toBe(10);
    expect(index.deltaShare).toBeCloseTo(0.1);
    for (let i = 0; i < 45; i++) index.remove(`id-${i}`);
    expect(index.hiddenSize).toBe(45);
    expect(index.size).toBe(55);
  });

  it('answers one merged list of base and delta, equal to one index of both', () => {
    const index = new LayeredIndex(16, versionOf(FlatIndex.fromRows(part(0, 300)), 1));
    for (let i = 300; i < 400; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    expect(everything(index)).toEqual(everything(FlatIndex.fromRows(part(0, 400))));
  });

  it('still answers topK when all the nearest of the base were removed', () => {
    const index = new LayeredIndex(16, versionOf(HnswIndex.build(part(0, 400)), 1));
    const truth = FlatIndex.fromRows(part(0, 400));
    for (let i = 0; i < 150; i++) {
      index.remove(`id-${i}`);
      truth.remove(`id-${i}`);
    }
    expect(index.search(rowOf(rows, 3), 10)).toEqual(truth.search(rowOf(rows, 3), 10));
  });

  it('does not copy into the delta what the base holds already', () => {
    const index = new LayeredIndex(16, versionOf(FlatIndex.fromRows(part(0, 10)), 1));
    index.upsert('id-3', rowOf(rows, 3));
    expect(index.deltaSize).toBe(0);
    index.remove('id-3');
    expect(index.has('id-3')).toBe(false);
    index.upsert('id-3', rowOf(rows, 3));
    expect(index.deltaSize).toBe(0);
    expect(index.has('id-3')).toBe(true);
  });

  it('keeps what came and what went while the next version was built', () => {
    const index = new LayeredIndex(16, versionOf(HnswIndex.build(part(0, 100)), 1));
    for (let i = 100; i < 120; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    const next = versionOf(HnswIndex.build(rowsOf(index)), 2);
    index.upsert('id-120', rowOf(rows, 120));
    index.remove('id-5');
    index.remove('id-110');
    index.upsert('id-111', rowOf(rows, 399));
    const before = everything(index);
    index.swapBase(next);
    expect(everything(index)).toEqual(before);
    expect(index.versionId).toBe('v000002');
    expect([...index.ids()].filter((id) => ['id-5', 'id-110'].includes(id))).toEqual([]);
    expect(index.vectorOf('id-111')).toEqual(rowOf(rows, 399));
    expect(index.deltaSize).toBe(2);
    expect(index.size).toBe(119);
  });

  it('loses nothing when an older version is swapped in again', () => {
    const older = versionOf(FlatIndex.fromRows(part(0, 50)), 1);
    const index = new LayeredIndex(16, older);
    index.remove('id-0');
    for (let i = 50; i < 80; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    index.swapBase(versionOf(FlatIndex.fromRows(rowsOf(index)), 2));
    const before = everything(index);
    index.swapBase(older);
    expect(everything(index)).toEqual(before);
    expect(index.versionId).toBe('v000001');
    expect(index.deltaSize).toBe(30);
  });

  it('shows what a version would answer without putting it to work, and reveals what it holds', () => {
    const index = new LayeredIndex(16, versionOf(FlatIndex.fromRows(part(0, 100)), 1));
    for (let i = 100; i < 120; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    index.remove('id-7');
    const next = versionOf(FlatIndex.fromRows(part(0, 110)), 2);
    const preview = index.withBase(next);
    expect(everything(preview)).toEqual(everything(index));
    expect([preview.versionId, index.versionId]).toEqual(['v000002', 'v000001']);
    expect(preview.reveal('id-7')).toBe(true);
    expect([preview.has('id-7'), index.has('id-7')]).toEqual([true, false]);
    expect(index.reveal('id-119')).toBe(false);
  });

  it('refuses a version of other dimensions and stays as it was', () => {
    const index = new LayeredIndex(16, versionOf(FlatIndex.fromRows(part(0, 10)), 1));
    const other = versionOf(new FlatIndex(8), 2);
    const invalid = expect.objectContaining({ code: 'AR_ERR_INVALID_REQUEST' });
    expect(() => index.swapBase(other)).toThrow(invalid);
    expect(() => new LayeredIndex(16, other)).toThrow(invalid);
    expect(index.versionId).toBe('v000001');
    expect(index.size).toBe(10);
  });

  it('swaps to the same whether it compared before or not, whatever changed in between', async () => {
    const [slow, quick] = [new LayeredIndex(16), new LayeredIndex(16)];
    const both = [slow, quick];
    for (const index of both) for (let i = 0; i < 400; i++) index.upsert(`id-${i}`, rowOf(rows, i));
    const next = versionOf(FlatIndex.fromRows(part(0, 390)), 1);
    await quick.compareWith(next);
    for (const index of both) {
      index.upsert('id-3', rowOf(rows, 399));
      index.remove('id-4');
      index.remove('id-5');
      index.upsert('id-5', rowOf(rows, 5));
      index.remove('id-6');
      index.upsert('id-6', rowOf(rows, 398));
      index.upsert('id-new', rowOf(rows, 7));
      index.swapBase(next);
    }
    expect(everything(quick)).toEqual(everything(slow));
    expect([quick.size, quick.deltaSize, quick.hiddenSize]).toEqual([slow.size, slow.deltaSize, slow.hiddenSize]);
    expect(quick.deltaSize).toBe(13);
    expect(quick.similarityOf('id-3', rowOf(rows, 399))).toBeCloseTo(1, 5);
  });
});
