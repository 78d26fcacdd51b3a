import { NearestList } from './nearest-list.ts';
import { RowProducts } from './row-products.ts';
import { checkDimensions, checkRow, checkTopK, checkVector, refuse, sameNumbers } from './vector-checks.ts';
import type { Neighbor, VectorIndex } from './vector-index.ts';

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
  readonly #products: RowProducts;

  constructor(dimensions: number) {
    checkDimensions(dimensions);
    this.dimensions = dimensions;
    this.#products = new RowProducts(dimensions);
    this.#rows = new Float32Array(0);
  }

  /**
   * Takes `rows.vectors` over without a copy: the caller must not write to it again. `areChecked`: the numbers were
   * checked when they were written and are the same by checksum; checking 10k vectors again costs 5 ms.
   */
  static fromRows(rows: VectorRows, areChecked = false): FlatIndex {
    const { dimensions, ids, vectors } = rows;
    const index = new FlatIndex(dimensions);
    if (vectors.length !== ids.length * dimensions) {
      refuse(`${ids.length} vectors of ${dimensions} numbers do not make ${vectors.length} numbers.`);
    }
    for (let slot = 0; slot < ids.length; slot++) {
      const id = ids[slot] as string;
      if (!areChecked) checkRow(vectors, slot * dimensions, dimensions);
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
    const { starts, sums } = this.#products;
    const ids = this.#ids;
    this.#products.take(query);
    let slot = 0;
    for (; slot + 4 <= ids.length; slot += 4) {
      for (let i = 0; i < 4; i++) starts[i] = (slot + i) * dimensions;
      this.#products.ofFour(this.#rows);
      for (let i = 0; i < 4; i++) {
        const similarity = sums[i] as number;
        if (similarity >= nearest.floor) nearest.offer(ids[slot + i] as string, similarity);
      }
    }
    for (; slot < ids.length; slot++) {
      nearest.offer(ids[slot] as string, this.#products.ofOne(this.#rows, slot * dimensions));
    }
    return nearest.take();
  }

  /**
   * What `search` would answer for these ids alone, all of them held, each given once. The query must have passed
   * `checkVector`.
   */
  rank(query: Float32Array, ids: readonly string[]): Neighbor[] {
    const nearest = new NearestList(ids.length);
    const { starts, sums } = this.#products;
    this.#products.take(query);
    for (let first = 0; first < ids.length; first += 4) {
      const group = ids.slice(first, first + 4);
      for (let i = 0; i < group.length; i++) starts[i] = (this.#slotOf.get(group[i] as string) ?? 0) * this.dimensions;
      this.#products.ofFour(this.#rows);
      for (let i = 0; i < group.length; i++) nearest.offer(group[i] as string, sums[i] as number);
    }
    return nearest.take();
  }

  similarityOf(id: string, query: Float32Array): number | undefined {
    return this.#slotOf.has(id) ? this.rank(query, [id])[0]?.similarity : undefined;
  }

  holds(id: string, vector: Float32Array): boolean {
    const slot = this.#slotOf.get(id);
    return slot !== undefined && sameNumbers(vector, this.#rowAt(slot));
  }

  vectorOf(id: string): Float32Array | undefined {
    const slot = this.#slotOf.get(id);
    return slot === undefined ? undefined : this.#rowAt(slot).slice();
  }

  ids(): IterableIterator<string> {
    return this.#slotOf.keys();
  }

  /** The stored row itself, not a copy: read it before the next change of the index, and never write to it. */
  rowView(id: string): Float32Array | undefined {
    const slot = this.#slotOf.get(id);
    return slot === undefined ? undefined : this.#rowAt(slot);
  }

  #rowAt(slot: number): Float32Array {
    return this.#rows.subarray(slot * this.dimensions, (slot + 1) * this.dimensions);
  }

  #makeRoom(count: number): void {
    const needed = count * this.dimensions;
    if (needed <= this.#rows.length) return;
    const grown = new Float32Array(Math.max(needed, this.#rows.length * 2, 16 * this.dimensions));
    grown.set(this.#rows);
    this.#rows = grown;
  }
}
