import { nextTurn } from '../core/index.ts';
import { FlatIndex } from './flat-index.ts';
import { NearestList } from './nearest-list.ts';
import { checkTopK, checkVector, refuse } from './vector-checks.ts';
import type { IndexVersionInfo, Neighbor, VectorIndex } from './vector-index.ts';

/** An immutable version in memory. Whoever holds it searches it and never changes it. */
export interface LoadedVersion {
  readonly info: IndexVersionInfo;
  readonly index: VectorIndex;
}

/** The version id while nothing was built yet. */
export const NO_VERSION_ID = 'v000000';

/** Vectors compared with those of another version between two turns of the event loop: half a millisecond. */
const COMPARED_A_TURN = 256;
const NOTHING: ReadonlySet<string> = new Set();

/**
 * What the router searches: one immutable base version, the ids of it that do not count any more, and a small delta
 * that is scanned exactly.
 *
 *     held = (base without hidden) + delta        delta and (base without hidden) share no id
 *
 * `swapBase` changes where vectors live, never which are held: a search answers the same before and after, but for
 * what recall the graph gives. So a base that was built from an older snapshot (a rebuild during which agents came and
 * went, a rollback) is always safe to swap in. It relies on ids being content hashes of one model: a base never holds
 * another vector under an id than the base before it did. Another model needs a new LayeredIndex.
 */
export class LayeredIndex implements VectorIndex {
  readonly dimensions: number;
  #base: LoadedVersion | undefined;
  /** Ids of the base that were removed or that the delta holds anew. */
  #hidden = new Set<string>();
  #delta: FlatIndex;
  /** Of a version that may be swapped in next: ids whose vector in the delta is the one that it holds. */
  #compared: { readonly index: WeakRef<VectorIndex>; readonly same: Set<string> } | undefined;

  constructor(dimensions: number, base?: LoadedVersion) {
    this.#delta = new FlatIndex(dimensions);
    this.dimensions = dimensions;
    if (base !== undefined) this.#checkBase(base);
    this.#base = base;
  }

  get versionId(): string {
    return this.#base?.info.id ?? NO_VERSION_ID;
  }

  get versionInfo(): IndexVersionInfo | undefined {
    return this.#base?.info;
  }

  get size(): number {
    return this.#baseSize - this.#hidden.size + this.#delta.size;
  }

  get deltaSize(): number {
    return this.#delta.size;
  }

  /** Vectors that only the next version will hold, of all held: 0..1. */
  get deltaShare(): number {
    return this.#delta.size === 0 ? 0 : this.#delta.size / this.size;
  }

  /** Vectors of the base that were removed since it was built, or that the delta holds anew. */
  get hiddenSize(): number {
    return this.#hidden.size;
  }

  has(id: string): boolean {
    return this.#delta.has(id) || this.#isLiveInBase(id);
  }

  holds(id: string, vector: Float32Array): boolean {
    if (this.#delta.has(id)) return this.#delta.holds(id, vector);
    return this.#isLiveInBase(id) && this.#base?.index.holds(id, vector) === true;
  }

  upsert(id: string, vector: Float32Array): void {
    checkVector(vector, this.dimensions);
    const isInBase = this.#base?.index.has(id) === true;
    this.#compared?.same.delete(id);
    if (isInBase && this.#base?.index.holds(id, vector) === true) {
      this.#delta.remove(id);
      this.#hidden.delete(id);
      return;
    }
    this.#delta.upsert(id, vector);
    if (isInBase) this.#hidden.add(id);
  }

  /** Lets a removed vector of the base count again, as it was; false where the base holds none under the id. */
  reveal(id: string): boolean {
    if (this.#base?.index.has(id) !== true) return false;
    if (!this.#delta.has(id)) this.#hidden.delete(id);
    return true;
  }

  remove(id: string): boolean {
    if (this.#delta.remove(id)) return true;
    if (!this.#isLiveInBase(id)) return false;
    this.#hidden.add(id);
    return true;
  }

  search(query: Float32Array, topK: number): Neighbor[] {
    checkTopK(topK);
    if (this.#base !== undefined && this.#delta.size === 0) return this.#searchBase(query, topK);
    return joined(topK, this.#searchBase(query, topK), this.#delta.search(query, topK));
  }

  /** As `search`, for who can bear that one or the other is missed: the delta costs an eighth then. */
  searchRoughly(query: Float32Array, topK: number): Neighbor[] {
    checkTopK(topK);
    return joined(topK, this.#searchBase(query, topK), this.#delta.searchRoughly(query, topK));
  }

  similarityOf(id: string, query: Float32Array): number | undefined {
    return (
      this.#delta.similarityOf(id, query) ??
      (this.#hidden.has(id) ? undefined : this.#base?.index.similarityOf(id, query))
    );
  }

  vectorOf(id: string): Float32Array | undefined {
    return this.#delta.vectorOf(id) ?? (this.#isLiveInBase(id) ? this.#base?.index.vectorOf(id) : undefined);
  }

  *ids(): Generator<string, undefined> {
    if (this.#base !== undefined) {
      for (const id of this.#base.index.ids()) if (!this.#hidden.has(id)) yield id;
    }
    yield* this.#delta.ids();
    return undefined;
  }

  /**
   * Puts another version under the held set, in one synchronous step. What the new base lacks (it came after the
   * snapshot) goes to the delta, what it has too much (it left after the snapshot) is hidden. Costs three map
   * look-ups a vector, and a copied row only for what goes to the delta: 3 ms for 10k vectors; 25 ms where the delta
   * holds them and `compareWith` was not asked before.
   */
  swapBase(next: LoadedVersion): void {
    this.#checkBase(next);
    const { hidden, delta } = this.#layersOver(next.index);
    this.#base = next;
    this.#hidden = hidden;
    this.#delta = delta;
    this.#compared = undefined;
  }

  /**
   * Does the long part of a swap between turns of the event loop: compares the vectors of the delta with those of the
   * version. What changes afterwards is compared again by the swap. A later call forgets the one before.
   */
  async compareWith({ index }: LoadedVersion): Promise<void> {
    const compared = { index: new WeakRef(index), same: new Set<string>() };
    this.#compared = compared;
    let seen = 0;
    for (const id of [...this.#delta.ids()]) {
      const vector = this.#delta.rowView(id);
      if (vector !== undefined && index.holds(id, vector)) compared.same.add(id);
      if (++seen % COMPARED_A_TURN === 0) await nextTurn();
      if (this.#compared !== compared) return;
    }
  }

  /** What `swapBase` would make of this index, as another object: to try a version before it serves. */
  withBase(next: LoadedVersion): LayeredIndex {
    const preview = new LayeredIndex(this.dimensions, next);
    const { hidden, delta } = this.#layersOver(next.index);
    preview.#hidden = hidden;
    preview.#delta = delta;
    return preview;
  }

  #layersOver(next: VectorIndex): { hidden: Set<string>; delta: FlatIndex } {
    const hidden = new Set<string>();
    const delta = new FlatIndex(this.dimensions);
    for (const id of next.ids()) if (!this.has(id)) hidden.add(id);
    const base = this.#base?.index;
    for (const id of base?.ids() ?? []) {
      if (this.#hidden.has(id) || next.has(id)) continue;
      const vector = base?.vectorOf(id);
      if (vector !== undefined) delta.upsert(id, vector);
    }
    const same = this.#compared?.index.deref() === next ? this.#compared.same : NOTHING;
    for (const id of this.#delta.ids()) {
      if (same.has(id)) continue;
      const vector = this.#delta.rowView(id);
      if (vector === undefined || next.holds(id, vector)) continue;
      if (next.has(id)) hidden.add(id);
      delta.upsert(id, vector);
    }
    return { hidden, delta };
  }

  get #baseSize(): number {
    return this.#base?.index.size ?? 0;
  }

  #isLiveInBase(id: string): boolean {
    return this.#base !== undefined && !this.#hidden.has(id) && this.#base.index.has(id);
  }

  /** Asks for a few more than wanted and doubles: hidden ids are rarely among the nearest, and never needed in full. */
  #searchBase(query: Float32Array, topK: number): Neighbor[] {
    const base = this.#base?.index;
    if (base === undefined) return [];
    if (this.#hidden.size === 0) return base.search(query, topK);
    const enough = Math.min(base.size, topK + this.#hidden.size);
    for (let fetch = Math.min(enough, topK + 8); ; fetch = Math.min(enough, fetch * 2)) {
      const kept = base.search(query, fetch).filter((neighbor) => !this.#hidden.has(neighbor.id));
      if (kept.length >= topK || fetch >= enough) return kept.slice(0, topK);
    }
  }

  #checkBase(base: LoadedVersion): void {
    if (base.index.dimensions === this.dimensions) return;
    refuse(`Version ${base.info.id} has ${base.index.dimensions} dimensions instead of ${this.dimensions}.`);
  }
}

function joined(topK: number, ...lists: readonly (readonly Neighbor[])[]): Neighbor[] {
  const nearest = new NearestList(topK);
  for (const list of lists) for (const { id, similarity } of list) nearest.offer(id, similarity);
  return nearest.take();
}
