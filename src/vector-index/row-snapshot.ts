import { nextTurn } from '../core/index.ts';
import type { VectorRows } from './flat-index.ts';
import type { VectorIndex } from './vector-index.ts';

/** Rows copied between two turns of the event loop: about half a millisecond at 384 dimensions. */
const SLICE_ROWS = 256;

/** A copy of everything an index holds. Costs one copied row a vector, in one go. */
export function rowsOf(index: VectorIndex): VectorRows {
  const ids = [...index.ids()];
  const vectors = new Float32Array(ids.length * index.dimensions);
  for (const [i, id] of ids.entries()) {
    const vector = index.vectorOf(id);
    if (vector !== undefined) vectors.set(vector, i * index.dimensions);
  }
  return { dimensions: index.dimensions, ids, vectors };
}

/**
 * The vectors of these ids in shared memory, as a build takes them without another copy. The event loop turns between
 * slices, so that routes go on; an id that is removed meanwhile is left out, one that comes meanwhile is not in it.
 */
export async function snapshotRows(index: VectorIndex, wanted: readonly string[]): Promise<VectorRows> {
  const { dimensions } = index;
  const slab = new Float32Array(new SharedArrayBuffer(wanted.length * dimensions * Float32Array.BYTES_PER_ELEMENT));
  const ids: string[] = [];
  for (let from = 0; from < wanted.length; from += SLICE_ROWS) {
    for (const id of wanted.slice(from, from + SLICE_ROWS)) {
      const vector = index.vectorOf(id);
      if (vector === undefined) continue;
      slab.set(vector, ids.length * dimensions);
      ids.push(id);
    }
    await nextTurn();
  }
  return { dimensions, ids, vectors: slab.subarray(0, ids.length * dimensions) };
}
