import { AgentReachError } from '../core/index.ts';

/** Input checks shared by every index of this room; a refusal is AR_ERR_INVALID_REQUEST. */

/** Rounding of a unit vector to float32 stays far below this. */
const LONGEST_SQUARED = 1.002;

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
  let squaredLength = 0;
  for (let i = start; i < start + dimensions; i++) squaredLength += (slab[i] as number) ** 2;
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

export function sameNumbers(a: Float32Array, b: Float32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}

export function refuse(detail: string): never {
  throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail });
}
