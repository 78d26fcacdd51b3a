import { NearestList } from './nearest-list.ts';
import type { Neighbor, VectorIndex } from './vector-index.ts';
import {
  checkDimensions,
  checkRow,
  checkTopK,
  checkVector,
  dotFourRows,
  dotRow,
  refuse,
  sameNumbers,
} from './vector-math.ts';

/** Many vectors in one piece: row i of `vectors` (dimensions numbers) belongs to ids[i]. No id comes twice. */
export interface VectorRows {
  readonly dimensions: number;
  readonly ids: readonly string[];
  readonly vectors: Float32Array;
}

/**
 * Exact scan over one slab of rows: the ground truth, and the right index for small sets and the delta. A search costs
 * one dot product a vector; an insert, an update and a removal cost one copied row. Memory is the rows (4 bytes a
 * number) and the ids, with room to double.
 */
export class FlatIndex implements VectorIndex {
  readonly dimensions: number;
  #rows: Float32Array;
  /** Slot -> id; slots are dense, the last row moves into a removed one's place. */
  readonly #ids: string[] = [];
  readonly #slotOf = new Map<string, number>();
  readonly #wideQuery: Float64Array;
  readonly #fourSums = new Float64Array(4);

  constructor(dimensions: number) {
    checkDimensions(dimensions);
    this.dimensions = dimensions;
    this.#wideQuery = new Float64Array(dimensions);
    this.#rows = new Float32Array(0);
  }

  /** Takes `rows.vectors` over without a copy: the caller must not write to it again. */
  static fromRows(rows: VectorRows): FlatIndex {
    const { dimensions, ids, vectors } = rows;
    const index = new FlatIndex(dimensions);
    if (vectors.length !== ids.length * dimensions) {
      refuse(`${ids.length} vectors of ${dimensions} numbers do not make ${vectors.length} numbers.`);
    }
    for (let slot = 0; slot < ids.length; slot++) {
      const id = ids[slot] as string;
      checkRow(vectors, slot * dimensions, dimensions);
      if (index.#slotOf.has(id)) refuse(`The id ${id} is given twice.`);
      index.#slotOf.set(id, slot);
      index.#ids.push(id);
    }
    index.#rows = vectors;
    return index;
  }

  get size(): number {
    return this.#ids.length;
  }

  has(id: string): boolean {
    return this.#slotOf.has(id);
  }

  upsert(id: string, vector: Float32Array): void {
    checkVector(vector, this.dimensions);
    let slot = this.#slotOf.get(id);
    if (slot === undefined) {
      slot = this.#ids.length;
      this.#makeRoom(slot + 1);
      this.#ids.push(id);
      this.#slotOf.set(id, slot);
    }
    this.#rows.set(vector, slot * this.dimensions);
  }

  remove(id: string): boolean {
    const slot = this.#slotOf.get(id);
    if (slot === undefined) return false;
    this.#slotOf.delete(id);
    const lastSlot = this.#ids.length - 1;
    const lastId = this.#ids.pop();
    if (slot !== lastSlot && lastId !== undefined) {
      const start = lastSlot * this.dimensions;
      this.#rows.copyWithin(slot * this.dimensions, start, start + this.dimensions);
      this.#ids[slot] = lastId;
      this.#slotOf.set(lastId, slot);
    }
    return true;
  }

  search(query: Float32Array, topK: number): Neighbor[] {
    checkVector(query, this.dimensions);
    checkTopK(topK);
    const nearest = new NearestList(Math.min(topK, this.size));
    const { dimensions } = this;
    const wide = this.#wideQuery;
    const sums = this.#fourSums;
    const rows = this.#rows;
    const ids = this.#ids;
    wide.set(query);
    let slot = 0;
    for (; slot + 4 <= ids.length; slot += 4) {
      dotFourRows(wide, rows, slot * dimensions, sums);
      for (let i = 0; i < 4; i++) {
        const similarity = sums[i] as number;
        if (similarity >= nearest.floor) nearest.offer(ids[slot + i] as string, similarity);
      }
    }
    for (; slot < ids.length; slot++) nearest.offer(ids[slot] as string, dotRow(wide, rows, slot * dimensions));
    return nearest.take();
  }

  /** What `search` would answer for these ids alone, each given once; unknown ones are left out. */
  rank(query: Float32Array, ids: readonly string[]): Neighbor[] {
    checkVector(query, this.dimensions);
    this.#wideQuery.set(query);
    const nearest = new NearestList(ids.length);
    for (const id of ids) {
      const slot = this.#slotOf.get(id);
      if (slot !== undefined) nearest.offer(id, dotRow(this.#wideQuery, this.#rows, slot * this.dimensions));
    }
    return nearest.take();
  }

  /** Whether exactly this vector is stored under the id. */
  holds(id: string, vector: Float32Array): boolean {
    const slot = this.#slotOf.get(id);
    return slot !== undefined && sameNumbers(vector, 0, this.#rows, slot * this.dimensions, this.dimensions);
  }

  vectorOf(id: string): Float32Array | undefined {
    const slot = this.#slotOf.get(id);
    return slot === undefined ? undefined : this.#rows.slice(slot * this.dimensions, (slot + 1) * this.dimensions);
  }

  ids(): IterableIterator<string> {
    return this.#slotOf.keys();
  }

  #makeRoom(count: number): void {
    const needed = count * this.dimensions;
    if (needed <= this.#rows.length) return;
    const grown = new Float32Array(Math.max(needed, this.#rows.length * 2, 16 * this.dimensions));
    grown.set(this.#rows);
    this.#rows = grown;
  }
}
