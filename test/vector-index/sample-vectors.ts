import type { VectorRows } from '../../src/vector-index/index.ts';

/** Seeded numbers in 0..1, so that each run sees the same vectors. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers) || 1;
  return Float32Array.from(numbers, (value) => value / length);
}

export function randomUnit(dimensions: number, random: () => number): Float32Array {
  return unit(Array.from({ length: dimensions }, () => random() - 0.5));
}

/** `clusters` groups of near vectors, one group after the other: what a sorted catalogue of capabilities looks like. */
export function clusteredRows(count: number, dimensions: number, clusters: number, seed = 1): VectorRows {
  const random = seededRandom(seed);
  const ids: string[] = [];
  const vectors = new Float32Array(count * dimensions);
  let centre = randomUnit(dimensions, random);
  for (let i = 0; i < count; i++) {
    if (i % Math.ceil(count / clusters) === 0) centre = randomUnit(dimensions, random);
    const noise = randomUnit(dimensions, random);
    ids.push(`id-${i}`);
    vectors.set(unit(Array.from(centre, (value, j) => value + 0.6 * (noise[j] ?? 0))), i * dimensions);
  }
  return { dimensions, ids, vectors };
}

export function rowOf(rows: VectorRows, i: number): Float32Array {
  return rows.vectors.slice(i * rows.dimensions, (i + 1) * rows.dimensions);
}
