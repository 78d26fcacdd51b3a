import { type CapabilityMeaning, capabilityTexts } from '../capability/index.ts';
import type { Warning } from '../contract/index.ts';
import { type Clock, type ContentHash, contentHash, errorText } from '../core/index.ts';
import type { Embedder } from '../embedding/index.ts';
import type { LexicalIndex } from '../lexical-index/index.ts';
import type { CapabilityIndex } from '../registry/index.ts';
import { type LayeredIndex, rowsOf, type VectorRows } from '../vector-index/index.ts';
import { CapabilitySpace } from './capability-space.ts';
import { type IndexedCapability, type IndexedText, indexedCapability, isFoundAlike } from './indexed-capability.ts';
import { nearDuplicateWarnings } from './near-duplicate.ts';
import { isModelOutage, TextVectors } from './text-vectors.ts';
import type { VectorStore } from './vector-store.ts';

export interface DenseHit {
  readonly entry: IndexedCapability;
  readonly similarity: number;
  readonly text: IndexedText;
}

export interface CapabilityIndexerOptions {
  readonly clock: Clock;
  readonly embedder: Embedder;
  readonly vectorStore: VectorStore;
  readonly vectors: LayeredIndex;
  readonly createLexicalIndex: () => LexicalIndex;
  /** Registered texts of two capabilities this close are reported at registration. */
  readonly nearDuplicateSimilarity: number;
}

/** Spaces with at most this many texts are scanned exactly when other namespaces share the index. */
const EXACT_SPACE_TEXTS = 1_024;

/**
 * Keeps the lexical and the vector index in step with what is registered. A vector is held once for all capabilities
 * that share its text; vectors that nobody needs any more stay until the next rebuild and are never answered, since
 * every hit goes through the owners of its text.
 */
export class CapabilityIndexer implements CapabilityIndex {
  readonly #options: CapabilityIndexerOptions;
  readonly #vectors: LayeredIndex;
  readonly #textVectors: TextVectors;
  readonly #spaces = new Map<string, CapabilitySpace>();
  readonly #owners = new Map<string, IndexedCapability[]>();
  readonly #changeListeners = new Set<() => void>();
  #revision = 0;

  constructor(options: CapabilityIndexerOptions) {
    this.#options = options;
    this.#vectors = options.vectors;
    this.#textVectors = new TextVectors({
      ...options,
      textOf: (hash) => this.#textOf(hash),
      onFilled: () => this.#changed(),
    });
  }

  /** Rises with every change of what can be found; whoever caches a search keys it by this. */
  get revision(): number {
    return this.#revision;
  }

  get textCount(): number {
    return this.#owners.size;
  }

  get missingVectors(): number {
    return this.#textVectors.missing;
  }

  space(namespace: string): CapabilitySpace | undefined {
    return this.#spaces.get(namespace);
  }

  /** Called after every change of what can be found. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => {
      this.#changeListeners.delete(listener);
    };
  }

  async prepare(meanings: readonly CapabilityMeaning[]): Promise<Warning[]> {
    const texts = new Map<ContentHash, string>();
    for (const meaning of meanings) {
      for (const { text } of capabilityTexts(meaning)) texts.set(contentHash(text), text);
    }
    const warnings: Warning[] = [];
    try {
      await this.#textVectors.ensure(texts);
    } catch (error) {
      if (!isModelOutage(error)) throw error;
      warnings.push({
        code: 'embedding_pending',
        message: `The model is not usable (${errorText(error)}); until it is, this agent is found by words alone.`,
      });
    }
    for (const meaning of meanings) {
      warnings.push(...nearDuplicateWarnings(indexedCapability(meaning), this, this.#options.nearDuplicateSimilarity));
    }
    return warnings;
  }

  apply(meanings: readonly CapabilityMeaning[]): void {
    let changed = false;
    for (const meaning of meanings) changed = this.#put(indexedCapability(meaning)) || changed;
    if (changed) this.#changed();
    this.#textVectors.fillInBackground();
  }

  remove(namespace: string, name: string): void {
    const space = this.#spaces.get(namespace);
    const entry = space?.delete(name);
    if (space === undefined || entry === undefined) return;
    if (space.size === 0) this.#spaces.delete(namespace);
    this.#disown(entry);
    this.#changed();
  }

  /** The best text of each capability of a namespace among the nearest `topK` texts, best first. */
  search(namespace: string, query: Float32Array, topK: number): DenseHit[] {
    const space = this.#spaces.get(namespace);
    if (space === undefined) return [];
    if (this.#spaces.size > 1 && space.textCount <= EXACT_SPACE_TEXTS) return this.#searchSpace(space, query, topK);
    for (let fetch = topK; ; fetch *= 4) {
      const neighbors = this.#vectors.search(query, fetch);
      const hits = new Map<IndexedCapability, DenseHit>();
      let owned = 0;
      for (const { id, similarity } of neighbors) {
        for (const entry of this.#owners.get(id) ?? []) {
          if (entry.namespace !== namespace) continue;
          owned++;
          const text = entry.texts.find((one) => one.hash === id);
          if (text !== undefined && !hits.has(entry)) hits.set(entry, { entry, similarity, text });
        }
      }
      if (owned >= topK || neighbors.length < fetch || fetch >= 64 * topK) return [...hits.values()];
    }
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

  vectorOf(hash: ContentHash): Float32Array | undefined {
    return this.#vectors.vectorOf(hash);
  }

  /** After the first `apply`: takes vectors from the store, and embeds the rest in the background. */
  async start(): Promise<void> {
    await this.#textVectors.start();
    this.dropUnowned();
  }

  /** Resolves when every text that could get a vector has one. Texts wait for a degraded model in the background. */
  async settled(): Promise<{ embedded: number; reused: number }> {
    return this.#textVectors.fill();
  }

  /** Vectors of the texts that are needed now, as the index builder takes them. */
  liveRows(): VectorRows {
    this.dropUnowned();
    return rowsOf(this.#vectors);
  }

  /** Forgets vectors that no capability needs and no registration under way is about to need. */
  dropUnowned(): void {
    this.#textVectors.dropOldPins();
    const unowned: string[] = [];
    for (const id of this.#vectors.ids()) {
      if (!this.#owners.has(id) && !this.#textVectors.isPinned(id)) unowned.push(id);
    }
    for (const id of unowned) this.#vectors.remove(id);
  }

  /** After a swap of the base version: same content, but cached recalls name the version before. */
  noteSwap(): void {
    this.#revision++;
  }

  stop(): void {
    this.#textVectors.stop();
    this.#changeListeners.clear();
  }

  #changed(): void {
    this.#revision++;
    for (const listener of this.#changeListeners) listener();
  }

  #put(entry: IndexedCapability): boolean {
    let space = this.#spaces.get(entry.namespace);
    if (space === undefined) {
      space = new CapabilitySpace(this.#options.createLexicalIndex());
      this.#spaces.set(entry.namespace, space);
    }
    const before = space.get(entry.name);
    if (before !== undefined && isFoundAlike(before, entry)) return false;
    if (before !== undefined) this.#disown(before);
    space.put(entry);
    for (const { hash } of entry.texts) {
      const owners = this.#owners.get(hash);
      if (owners === undefined) this.#owners.set(hash, [entry]);
      else owners.push(entry);
      if (!this.#vectors.has(hash)) this.#textVectors.addMissing(hash);
    }
    return true;
  }

  #disown(entry: IndexedCapability): void {
    for (const { hash } of entry.texts) {
      const left = (this.#owners.get(hash) ?? []).filter((owner) => owner !== entry);
      if (left.length > 0) this.#owners.set(hash, left);
      else this.#owners.delete(hash);
    }
  }

  #textOf(hash: string): string | undefined {
    return this.#owners.get(hash)?.[0]?.texts.find((text) => text.hash === hash)?.text;
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
