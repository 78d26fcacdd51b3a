import { NearestList } from './nearest-list.ts';
import { RowProducts } from './row-products.ts';
import { SignRows } from './sign-rows.ts';
import { checkDimensions, checkRow, checkTopK, checkVector, refuse, sameNumbers } from './vector-checks.ts';
import type { Neighbor, VectorIndex } from './vector-index.ts';

/** Many vectors in one piece: row i of `vectors` (dimensions numbers) belongs to ids[i]. No id comes twice. */
export interface VectorRows {
  readonly dimensions: number;
  readonly ids: readonly string[];
  readonly vectors: Float32Array;
}

/** Smaller sets are scanned exactly, which is as fast. */
const ROUGH_FROM = 256;
/** Rows whose signs are nearest, for each one wanted: what they lose of the true nearest is under a tenth. */
const ROUGH_CANDIDATES = 6;

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
  /** In step with the rows from the first rough search on. */
  #signs: SignRows | undefined;

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
    this.#signs?.set(slot, vector);
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
      this.#signs?.copy(lastSlot, slot);
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
   * As `search`, at an eighth of its cost, but that it may miss one or the other: rows are chosen by their signs, and
   * only the chosen ones are compared.
   */
  searchRoughly(query: Float32Array, topK: number): Neighbor[] {
    checkVector(query, this.dimensions);
    checkTopK(topK);
    const chosen = topK * ROUGH_CANDIDATES;
    if (this.size <= Math.max(ROUGH_FROM, chosen)) return this.search(query, topK);
    return this.rankSlots(query, this.#signsOfRows().nearest(query, this.size, chosen), topK);
  }

  /**
   * What `search` would answer for these ids alone, all of them held, each given once. The query must have passed
   * `checkVector`. Costs one product an id, and what it takes to keep `topK` in order.
   */
  rank(query: Float32Array, ids: readonly string[], topK: number): Neighbor[] {
    const slots = ids.map((id) => this.#slotOf.get(id) ?? 0);
    return this.rankSlots(query, slots, topK);
  }

  /** The same for slots: of given rows, the order that they were given in, until the first removal. */
  rankSlots(query: Float32Array, slots: readonly number[], topK: number): Neighbor[] {
    const nearest = new NearestList(Math.min(topK, slots.length));
    const { dimensions } = this;
    const { starts, sums } = this.#products;
    const rows = this.#rows;
    const ids = this.#ids;
    this.#products.take(query);
    let at = 0;
    for (; at + 4 <= slots.length; at += 4) {
      for (let i = 0; i < 4; i++) starts[i] = (slots[at + i] as number) * dimensions;
      this.#products.ofFour(rows);
      for (let i = 0; i < 4; i++) {
        const similarity = sums[i] as number;
        if (similarity >= nearest.floor) nearest.offer(ids[slots[at + i] as number] as string, similarity);
      }
    }
    for (; at < slots.length; at++) {
      const slot = slots[at] as number;
      nearest.offer(ids[slot] as string, this.#products.ofOne(rows, slot * dimensions));
    }
    return nearest.take();
  }

  similarityOf(id: string, query: Float32Array): number | undefined {
    const slot = this.#slotOf.get(id);
    if (slot === undefined) return undefined;
    this.#products.take(query);
    return this.#products.ofOne(this.#rows, slot * this.dimensions);
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

  #signsOfRows(): SignRows {
    if (this.#signs === undefined) {
      this.#signs = new SignRows(this.dimensions);
      for (let slot = 0; slot < this.size; slot++) this.#signs.set(slot, this.#rowAt(slot));
    }
    return this.#signs;
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
