import { nextTurn } from '../core/index.ts';
import type { LexicalIndex } from '../lexical-index/index.ts';
import type { Neighbor, VectorIndex } from '../vector-index/index.ts';
import { CapabilitySpace } from './capability-space.ts';
import { type IndexedCapability, type IndexedText, isFoundAlike } from './indexed-capability.ts';
import type { PhraseHead } from './relevance/phrase-head.ts';
import type { HeadSource } from './relevance/phrase-heads.ts';

export interface DenseHit {
  readonly entry: IndexedCapability;
  readonly similarity: number;
  readonly text: IndexedText;
}

/** What a question is asked of: capabilities by name and words, and the vectors of their texts. */
export interface Searchable {
  space(namespace: string): CapabilitySpace | undefined;
  search(namespace: string, query: Float32Array, topK: number): DenseHit[];
  nearestText(entry: IndexedCapability, query: Float32Array): DenseHit | undefined;
  /** Cosines of all texts of one capability, in their order; undefined where a vector is missing. */
  similarities(entry: IndexedCapability, query: Float32Array): readonly (number | undefined)[];
  /** What was learnt from the phrases of a namespace; undefined where that is nothing. */
  headFor?(namespace: string): PhraseHead | undefined;
  /** What a capability asks for, as a multiple of `minRelevance`; 1 unless its phrases taught otherwise. */
  thresholdOf?(namespace: string, name: string): number;
}

interface Texts {
  readonly spaces: Map<string, CapabilitySpace>;
  readonly owners: Map<string, IndexedCapability[]>;
}

/** Spaces with at most this many texts are scanned exactly when other namespaces share the index. */
const EXACT_SPACE_TEXTS = 1_024;
/** Texts of a space compared one by one for what a further neighbour of the graph costs: 1.3 us against 2.5 us. */
const TEXTS_A_NEIGHBOR = 2;
/** Capabilities taken in between two turns of the event loop, about a millisecond of words. */
const SLICE_ENTRIES = 16;

/**
 * Capabilities over one vector index. A vector is held once for all capabilities that share its text; every hit goes
 * through the owners of its text, so that a vector that nobody owns is never answered.
 */
export class SearchView implements Searchable {
  readonly #vectors: VectorIndex;
  readonly #createLexicalIndex: () => LexicalIndex;
  readonly #texts: Texts;
  readonly #heads: HeadSource | undefined;

  constructor(
    vectors: VectorIndex,
    createLexicalIndex: () => LexicalIndex,
    { texts = { spaces: new Map(), owners: new Map() }, heads }: { texts?: Texts; heads?: HeadSource | undefined } = {},
  ) {
    this.#vectors = vectors;
    this.#createLexicalIndex = createLexicalIndex;
    this.#texts = texts;
    this.#heads = heads;
  }

  /** Another view of the same capabilities, now and later, over other vectors. */
  over(vectors: VectorIndex, heads?: HeadSource): SearchView {
    return new SearchView(vectors, this.#createLexicalIndex, { texts: this.#texts, heads });
  }

  /** A view of other capabilities over other vectors, built between turns of the event loop. */
  async of(entries: Iterable<IndexedCapability>, vectors: VectorIndex, heads?: HeadSource): Promise<SearchView> {
    const view = new SearchView(vectors, this.#createLexicalIndex, { heads });
    let taken = 0;
    for (const entry of entries) {
      view.put(entry);
      if (++taken % SLICE_ENTRIES === 0) await nextTurn();
    }
    return view;
  }

  get textCount(): number {
    return this.#texts.owners.size;
  }

  space(namespace: string): CapabilitySpace | undefined {
    return this.#texts.spaces.get(namespace);
  }

  thresholdOf(namespace: string, name: string): number {
    const space = this.space(namespace);
    return space === undefined ? 1 : (this.#heads?.thresholdOf(namespace, name, space) ?? 1);
  }

  headFor(namespace: string): PhraseHead | undefined {
    const space = this.space(namespace);
    return space === undefined ? undefined : this.#heads?.headFor(namespace, space);
  }

  *entries(): Generator<IndexedCapability, undefined> {
    for (const space of this.#texts.spaces.values()) yield* space.entries();
    return undefined;
  }

  owns(hash: string): boolean {
    return this.#texts.owners.has(hash);
  }

  textOf(hash: string): string | undefined {
    return this.#texts.owners.get(hash)?.[0]?.texts.find((text) => text.hash === hash)?.text;
  }

  /** False where nothing changed by it. */
  put(entry: IndexedCapability): boolean {
    const { spaces, owners } = this.#texts;
    let space = spaces.get(entry.namespace);
    if (space === undefined) {
      space = new CapabilitySpace(this.#createLexicalIndex());
      spaces.set(entry.namespace, space);
    }
    const before = space.get(entry.name);
    if (before !== undefined && isFoundAlike(before, entry)) return false;
    if (before !== undefined) this.#disown(before);
    space.put(entry);
    for (const { hash } of entry.texts) {
      const sharing = owners.get(hash);
      if (sharing === undefined) owners.set(hash, [entry]);
      else sharing.push(entry);
    }
    return true;
  }

  remove(namespace: string, name: string): boolean {
    const { spaces } = this.#texts;
    const space = spaces.get(namespace);
    const entry = space?.delete(name);
    if (space === undefined || entry === undefined) return false;
    if (space.size === 0) spaces.delete(namespace);
    this.#disown(entry);
    return true;
  }

  /**
   * The best text of each capability of a namespace among its nearest `topK` texts, best first; never fewer texts than
   * that while it has them, however near those of other namespaces lie. Where these take the first places the search
   * widens, and compares all texts of the space once that costs no more.
   */
  search(namespace: string, query: Float32Array, topK: number): DenseHit[] {
    const { spaces } = this.#texts;
    const space = spaces.get(namespace);
    if (space === undefined) return [];
    if (spaces.size > 1 && space.textCount <= EXACT_SPACE_TEXTS) return this.#searchSpace(space, query, topK);
    for (let fetch = topK; ; fetch *= 4) {
      const neighbors = this.#vectors.search(query, fetch);
      const { hits, owned } = this.owned(namespace, neighbors);
      if (owned >= topK || neighbors.length < fetch) return hits;
      if (space.textCount <= 4 * fetch * TEXTS_A_NEIGHBOR) return this.#searchSpace(space, query, topK);
    }
  }

  /** What of found vectors stands for capabilities of a namespace: of each its best text, in the order given. */
  owned(namespace: string, neighbors: readonly Neighbor[]): { hits: DenseHit[]; owned: number } {
    const { owners } = this.#texts;
    const hits = new Map<IndexedCapability, DenseHit>();
    let owned = 0;
    for (const { id, similarity } of neighbors) {
      for (const entry of owners.get(id) ?? []) {
        if (entry.namespace !== namespace) continue;
        owned++;
        const text = entry.texts.find((one) => one.hash === id);
        if (text !== undefined && !hits.has(entry)) hits.set(entry, { entry, similarity, text });
      }
    }
    return { hits: [...hits.values()], owned };
  }

  similarities(entry: IndexedCapability, query: Float32Array): (number | undefined)[] {
    return entry.texts.map(({ hash }) => this.#vectors.similarityOf(hash, query));
  }

  /** The nearest text of one capability; undefined while none of its texts has a vector. */
  nearestText(entry: IndexedCapability, query: Float32Array): DenseHit | undefined {
    let nearest: DenseHit | undefined;
    for (const text of entry.texts) {
      const similarity = this.#vectors.similarityOf(text.hash, query);
      if (similarity === undefined) continue;
      if (nearest === undefined || similarity > nearest.similarity) nearest = { entry, similarity, text };
    }
    return nearest;
  }

  #disown(entry: IndexedCapability): void {
    const { owners } = this.#texts;
    for (const { hash } of entry.texts) {
      const left = (owners.get(hash) ?? []).filter((owner) => owner !== entry);
      if (left.length > 0) owners.set(hash, left);
      else owners.delete(hash);
    }
  }

  #searchSpace(space: CapabilitySpace, query: Float32Array, topK: number): DenseHit[] {
    const hits: DenseHit[] = [];
    for (const entry of space.entries()) {
      const hit = this.nearestText(entry, query);
      if (hit !== undefined) hits.push(hit);
    }
    return hits.sort((a, b) => b.similarity - a.similarity).slice(0, topK);
  }
}
