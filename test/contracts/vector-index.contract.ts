import { describe, expect, it } from 'vitest';
import { type ErrorCode, isAgentReachError } from '../../src/core/index.ts';
import type { VectorIndex } from '../../src/vector-index/index.ts';
import { randomUnit, seededRandom, unit } from '../vector-index/sample-vectors.ts';

const EAST = unit([1, 0, 0]);
const NORTH_EAST = unit([1, 1, 0]);
const NORTH = unit([0, 1, 0]);
const UP = unit([0, 0, 1]);

const ids = (found: readonly { readonly id: string }[]): string[] => found.map((neighbor) => neighbor.id);

function codeOf(task: () => unknown): ErrorCode | 'nothing thrown' | 'uncoded' {
  try {
    task();
    return 'nothing thrown';
  } catch (error) {
    return isAgentReachError(error) ? error.code : 'uncoded';
  }
}

/** What every VectorIndex promises. `make` answers an empty one. */
export function vectorIndexContract(name: string, make: (dimensions: number) => VectorIndex): void {
  describe(`${name} as a VectorIndex`, () => {
    const filled = (): VectorIndex => {
      const index = make(3);
      index.upsert('east', EAST);
      index.upsert('north', NORTH);
      index.upsert('up', UP);
      return index;
    };

    it('answers nothing while it is empty', () => {
      const index = make(3);
      expect(index.search(EAST, 5)).toEqual([]);
      expect(index.size).toBe(0);
      expect([...index.ids()]).toEqual([]);
      expect(index.remove('east')).toBe(false);
      expect(index.vectorOf('east')).toBeUndefined();
    });

    it('answers the nearest first, with the cosine', () => {
      const found = filled().search(unit([3, 2, 1]), 2);
      expect(ids(found)).toEqual(['east', 'north']);
      expect(found[0]?.similarity).toBeCloseTo(3 / Math.sqrt(14), 6);
      expect(found[1]?.similarity).toBeCloseTo(2 / Math.sqrt(14), 6);
    });

    it('orders equal similarities by id', () => {
      const index = make(3);
      for (const id of ['c', 'a', 'd', 'b']) index.upsert(id, NORTH_EAST);
      expect(ids(index.search(EAST, 3))).toEqual(['a', 'b', 'c']);
      expect(ids(index.search(EAST, 4))).toEqual(['a', 'b', 'c', 'd']);
    });

    it('answers all it holds when asked for more', () => {
      expect(ids(filled().search(EAST, 1_000_000_000))).toEqual(['east', 'north', 'up']);
    });

    it('replaces the vector of an id', () => {
      const index = filled();
      index.upsert('up', NORTH_EAST);
      expect(index.size).toBe(3);
      expect(ids(index.search(NORTH_EAST, 1))).toEqual(['up']);
      expect(index.vectorOf('up')).toEqual(NORTH_EAST);
      expect(index.search(UP, 3).every((neighbor) => neighbor.similarity < 0.01)).toBe(true);
    });

    it('never answers a removed id, and takes it back later', () => {
      const index = filled();
      expect(index.remove('east')).toBe(true);
      expect(index.remove('east')).toBe(false);
      expect(index.has('east')).toBe(false);
      expect(index.size).toBe(2);
      expect(ids(index.search(EAST, 3))).toEqual(['north', 'up']);
      index.upsert('east', UP);
      expect(ids(index.search(UP, 2))).toEqual(['east', 'up']);
    });

    it('starts anew after its last id is removed', () => {
      const index = filled();
      for (const id of ['east', 'north', 'up']) index.remove(id);
      expect(index.search(EAST, 2)).toEqual([]);
      index.upsert('north', NORTH);
      expect(ids(index.search(EAST, 2))).toEqual(['north']);
    });

    it('copies what it is given and what it answers', () => {
      const index = make(3);
      const vector = EAST.slice();
      index.upsert('east', vector);
      vector.set(UP);
      const copy = index.vectorOf('east');
      expect(copy).toEqual(EAST);
      copy?.set(UP);
      expect(index.search(EAST, 1)[0]?.similarity).toBe(1);
    });

    it('grows past any first size and removes from the middle', () => {
      const index = make(8);
      const random = seededRandom(7);
      const vectors = Array.from({ length: 700 }, () => randomUnit(8, random));
      for (const [i, vector] of vectors.entries()) index.upsert(`id-${i}`, vector);
      for (let i = 0; i < 700; i += 3) index.remove(`id-${i}`);
      expect(index.size).toBe(466);
      expect(new Set(index.ids()).size).toBe(466);
      for (const [i, vector] of vectors.entries()) {
        expect(index.vectorOf(`id-${i}`)).toEqual(i % 3 === 0 ? undefined : vector);
        if (i % 3 !== 0) expect(index.search(vector, 1)[0]?.id).toBe(`id-${i}`);
      }
    });

    it('takes the zero vector, which is near to nothing', () => {
      const index = filled();
      index.upsert('nothing', new Float32Array(3));
      expect(index.search(EAST, 4)[3]?.similarity).toBe(0);
      expect(index.search(new Float32Array(3), 1)).toEqual([{ id: 'east', similarity: 0 }]);
    });

    const hostile: readonly (readonly [string, unknown])[] = [
      ['NaN', Float32Array.of(0, Number.NaN, 0)],
      ['an infinity', Float32Array.of(Number.NEGATIVE_INFINITY, 0, 0)],
      ['two infinities that cancel', Float32Array.of(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0)],
      ['numbers whose squares overflow', Float32Array.of(3e38, 3e38, 0)],
      ['a length over 1', Float32Array.of(1, 1, 0)],
      ['too few numbers', Float32Array.of(1, 0)],
      ['too many numbers', Float32Array.of(1, 0, 0, 0)],
      ['no numbers', new Float32Array(0)],
      ['a plain array', [1, 0, 0]],
      ['an array with null', [1, null, 0]],
      ['a string', 'abc'],
      ['an object', { length: 3, 0: 1, 1: 0, 2: 0 }],
      ['doubles', Float64Array.of(1, 0, 0)],
      ['null', null],
      ['undefined', undefined],
    ];
    it.each(hostile)('refuses %s and changes nothing', (_what, vector) => {
      const index = filled();
      expect(codeOf(() => index.upsert('new', vector as Float32Array))).toBe('AR_ERR_INVALID_REQUEST');
      expect(codeOf(() => index.upsert('east', vector as Float32Array))).toBe('AR_ERR_INVALID_REQUEST');
      expect(codeOf(() => index.search(vector as Float32Array, 1))).toBe('AR_ERR_INVALID_REQUEST');
      expect(index.size).toBe(3);
      expect(index.has('new')).toBe(false);
      expect(index.vectorOf('east')).toEqual(EAST);
      expect(ids(index.search(EAST, 3))).toEqual(['east', 'north', 'up']);
    });

    it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', undefined])('refuses topK %s', (topK) => {
      expect(codeOf(() => filled().search(EAST, topK as number))).toBe('AR_ERR_INVALID_REQUEST');
      expect(codeOf(() => make(3).search(EAST, topK as number))).toBe('AR_ERR_INVALID_REQUEST');
    });

    it.each([0, -3, 2.5, Number.NaN, 1e9])('refuses %s dimensions', (dimensions) => {
      expect(codeOf(() => make(dimensions))).toBe('AR_ERR_INVALID_REQUEST');
    });
  });
}
