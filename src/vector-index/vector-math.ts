import { AgentReachError } from '../core/index.ts';

/**
 * Arithmetic and input checks shared by every index of this room, so that all of them answer the same similarity for
 * the same pair, to the last bit. Sums are doubles; 384 dimensions cost about 0.25 us.
 */

/** Rounding of a unit vector to float32 stays far below this. */
const LONGEST_SQUARED = 1.002;

/** Four sums at once: the additions do not wait for each other, which is three times faster than one. */
export function dotProduct(a: Float32Array, aStart: number, b: Float32Array, bStart: number, length: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  const unrolled = length & ~3;
  let i = 0;
  for (; i < unrolled; i += 4) {
    const x = aStart + i;
    const y = bStart + i;
    sum0 += (a[x] as number) * (b[y] as number);
    sum1 += (a[x + 1] as number) * (b[y + 1] as number);
    sum2 += (a[x + 2] as number) * (b[y + 2] as number);
    sum3 += (a[x + 3] as number) * (b[y + 3] as number);
  }
  for (; i < length; i++) sum0 += (a[aStart + i] as number) * (b[bStart + i] as number);
  return sum0 + sum1 + (sum2 + sum3);
}

/**
 * Refuses what must never be stored or searched. A vector longer than 1 is refused too: by inner product it would be
 * near to everything. The squared length is the whole check, since one NaN or infinity in it spoils the sum.
 */
export function checkVector(vector: Float32Array, dimensions: number): void {
  if (!(vector instanceof Float32Array)) refuse('A vector must be a Float32Array.');
  if (vector.length !== dimensions) refuse(`A vector must have ${dimensions} numbers, this one has ${vector.length}.`);
  checkRow(vector, 0, dimensions);
}

/** The same check for one row of a slab. */
export function checkRow(slab: Float32Array, start: number, dimensions: number): void {
  const squaredLength = dotProduct(slab, start, slab, start, dimensions);
  if (squaredLength <= LONGEST_SQUARED) return;
  refuse(
    Number.isFinite(squaredLength)
      ? `A vector must be at most of length 1, this one is ${Math.sqrt(squaredLength).toPrecision(4)} long.`
      : 'A vector must hold finite numbers only.',
  );
}

export function checkTopK(topK: number): void {
  if (!Number.isInteger(topK) || topK < 1) refuse('topK must be a whole number, 1 or more.');
}

export function checkDimensions(dimensions: number): void {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > 65_536) {
    refuse('dimensions must be a whole number from 1 to 65536.');
  }
}

export function sameNumbers(a: Float32Array, aStart: number, b: Float32Array, bStart: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
}

export function refuse(detail: string): never {
  throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail });
}
