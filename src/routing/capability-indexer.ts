import type { CapabilityMeaning } from '../capability/index.ts';
import type { Warning } from '../contract/index.ts';
import { type Clock, type ContentHash, errorText, nextTurn } from '../core/index.ts';
import type { Embedder } from '../embedding/index.ts';
import type { LexicalIndex } from '../lexical-index/index.ts';
import type { CapabilityIndex } from '../registry/index.ts';
import { type LayeredIndex, snapshotRows, type VectorRows } from '../vector-index/index.ts';
import type { CapabilitySpace } from './capability-space.ts';
import { digestOfHashes, encodeCatalogue, keyOf } from './catalogue.ts';
import { type IndexedCapability, indexedCapability } from './indexed-capability.ts';
import { nearDuplicateWarnings } from './near-duplicate.ts';
import type { PhraseHead } from './relevance/phrase-head.ts';
import type { HeadSource } from './relevance/phrase-heads.ts';
import { type DenseHit, type Searchable, SearchView } from './search-view.ts';
import { isModelOutage, type TextClaiming, TextVectors } from './text-vectors.ts';
import type { VectorStore } from './vector-store.ts';

export interface CapabilityIndexerOptions {
  readonly clock: Clock;
  readonly embedder: Embedder;
  readonly vectorStore: VectorStore;
  readonly vectors: LayeredIndex;
  readonly createLexicalIndex: () => LexicalIndex;
  /** Registered texts of two capabilities this close are reported at registration. */
  readonly nearDuplicateSimilarity: number;
  /** Which of several instances embeds a text; absent where there is one. */
  readonly textClaims?: TextClaiming | undefined;
  /** What was learnt from phrases; none unless given. */
  readonly heads?: HeadSource;
}

/** What a build takes, all of one moment. */
export interface BuildInput {
  readonly rows: VectorRows;
  readonly catalogue: Uint8Array<ArrayBuffer>;
  readonly catalogueDigest: string;
  /** Texts that had to be embedded for it now. */
  readonly embedded: number;
  readonly entries: readonly IndexedCapability[];
  /** Texts of the catalogue that have no vector yet. */
  readonly absent: readonly ContentHash[];
}

/** Of all texts; with more than this share waiting for vectors, answers say that they are degraded. */
const MAX_WAITING_SHARE = 0.1;

/** Vectors of one read and one write of the store. */
const RESTORED_AT_ONCE = 512;

/** Capabilities compared with others between two turns of the event loop: about a millisecond. */
const LINTED_A_TURN = 2;

/** Brought back by a rollback, for as long as the agents say what they said then. */
interface HeldMeaning {
  readonly entry: IndexedCapability;
  readonly liveHash: string;
}

/**
 * Keeps the lexical and the vector index in step with what is registered. What agents say is *live*; what is searched
 * is the same, but for the capabilities that a rollback holds at an earlier state of their texts:
 *
 *     searched(name) = held(name)   if the agents still say what they said at the rollback
 *                      live(name)   else; and nothing where nobody is registered for the name
 *
 * A pure function of the two, so that a restart gives the same. Vectors that nobody needs stay until the next rebuild
 * and are never answered.
 */
export class CapabilityIndexer implements CapabilityIndex, Searchable {
  readonly #options: CapabilityIndexerOptions;
  readonly #vectors: LayeredIndex;
  readonly #textVectors: TextVectors;
  readonly #view: SearchView;
  readonly #live = new Map<string, IndexedCapability>();
  #held: ReadonlyMap<string, HeldMeaning> | undefined;
  readonly #changeListeners = new Set<() => void>();
  #revision = 0;

  constructor(options: CapabilityIndexerOptions) {
    this.#options = options;
    this.#vectors = options.vectors;
    this.#view = new SearchView(options.vectors, options.createLexicalIndex, { heads: options.heads });
    this.#textVectors = new TextVectors({
      ...options,
      textOf: (hash) => this.#view.textOf(hash),
      onFilled: () => this.#changed(),
    });
  }

  /** Rises with every change of what can be found; whoever caches a search keys it by this. */
  get revision(): number {
    return this.#revision;
  }

  /** Of the index that a search asks now. */
  get versionId(): string {
    return this.#vectors.versionId;
  }

  get textCount(): number {
    return this.#view.textCount;
  }

  get missingVectors(): number {
    return this.#textVectors.missing;
  }

  /** Why a search may miss what is registered; null while it cannot. */
  get waitingReason(): string | null {
    const { missing } = this.#textVectors;
    const { textCount } = this.#view;
    if (missing <= textCount * MAX_WAITING_SHARE) return null;
    return `${missing} of ${textCount} texts wait for their vectors`;
  }

  space(namespace: string): CapabilitySpace | undefined {
    return this.#view.space(namespace);
  }

  textOf(hash: string): string | undefined {
    return this.#view.textOf(hash);
  }

  /** Called after every change of what can be found. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => {
      this.#changeListeners.delete(listener);
    };
  }

  async prepare(meanings: readonly CapabilityMeaning[]): Promise<Warning[]> {
    const warnings: Warning[] = [];
    const entries = meanings.map(indexedCapability);
    const texts = textsOf(entries);
    this.#textVectors.pin(texts.keys());
    try {
      await this.#textVectors.ensure(texts);
    } catch (error) {
      if (!isModelOutage(error)) throw error;
      warnings.push({
        code: 'embedding_pending',
        message: `The model is not usable (${errorText(error)}); until it is, this agent is found by words alone.`,
      });
    }
    for (const [i, entry] of entries.entries()) {
      if (i % LINTED_A_TURN === LINTED_A_TURN - 1) await nextTurn();
      warnings.push(...nearDuplicateWarnings(entry, this, this.#options.nearDuplicateSimilarity));
    }
    return warnings;
  }

  apply(meanings: readonly CapabilityMeaning[]): void {
    let changed = false;
    for (const meaning of meanings) {
      const entry = indexedCapability(meaning);
      for (const { hash } of entry.texts) this.#textVectors.unpin(hash);
      const before = this.#live.get(keyOf(meaning));
      if (before?.meaningHash === entry.meaningHash) continue;
      this.#live.set(keyOf(meaning), entry);
      changed = this.#put(this.#searched(entry)) || changed;
    }
    if (changed) this.#changed();
    this.#textVectors.fillInBackground();
  }

  remove(namespace: string, name: string): void {
    this.#live.delete(keyOf({ namespace, name }));
    if (this.#view.remove(namespace, name)) this.#changed();
  }

  search(namespace: string, query: Float32Array, topK: number): DenseHit[] {
    return this.#view.search(namespace, query, topK);
  }

  /**
   * What lies near a vector, for a hint: as `search` at a fraction of its cost while many texts are new, but that it
   * may miss one or the other.
   */
  glance(namespace: string, query: Float32Array, topK: number): DenseHit[] {
    return this.#view.owned(namespace, this.#vectors.searchRoughly(query, topK)).hits;
  }

  similarities(entry: IndexedCapability, query: Float32Array): (number | undefined)[] {
    return this.#view.similarities(entry, query);
  }

  thresholdOf(namespace: string, name: string): number {
    return this.#view.thresholdOf(namespace, name);
  }

  headFor(namespace: string): PhraseHead | undefined {
    return this.#view.headFor(namespace);
  }

  nearestText(entry: IndexedCapability, query: Float32Array): DenseHit | undefined {
    return this.#view.nearestText(entry, query);
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

  /** What agents say now. */
  liveEntries(): readonly IndexedCapability[] {
    return [...this.#live.values()];
  }

  /**
   * What agents say now, as an index builder takes it: the catalogue, and the vectors of its texts in its order. Those
   * of registrations under way come after them, unless others are to build the same from the catalogue alone.
   */
  async buildInput(isForAll = false): Promise<BuildInput> {
    this.dropUnowned();
    const entries = [...this.#live.values()];
    let embedded = 0;
    if (this.#held !== undefined) ({ embedded } = await this.#textVectors.ensure(textsOf(entries)));
    const needed = new Set(entries.flatMap(({ texts }) => texts.map(({ hash }) => hash)));
    const ids = new Set<string>([...needed].filter((hash) => this.#vectors.has(hash)));
    if (!isForAll) for (const id of this.#vectors.ids()) if (this.#textVectors.isPinned(id)) ids.add(id);
    const catalogueDigest = digestOfHashes(entries.map(({ meaningHash }) => meaningHash));
    const rows = await snapshotRows(this.#vectors, [...ids]);
    const found = new Set(rows.ids);
    const absent = [...needed].filter((hash) => !found.has(hash));
    return { rows, catalogue: await encodeCatalogue(entries), catalogueDigest, embedded, entries, absent };
  }

  /** Of what agents say now; compared with that of a version it tells whether that version says the same. */
  get catalogueDigest(): string {
    return digestOfHashes(Array.from(this.#live.values(), ({ meaningHash }) => meaningHash));
  }

  /** The searched capabilities over another index: what a version would answer if it were swapped in. */
  over(vectors: LayeredIndex, heads?: HeadSource): Searchable {
    return this.#view.over(vectors, heads);
  }

  /** What agents say, over another index, held or not: what a rebuild would answer. */
  async liveOver(vectors: LayeredIndex, heads?: HeadSource): Promise<Searchable> {
    if (this.#held === undefined) return this.over(vectors, heads);
    return this.#view.of([...this.#live.values()], vectors, heads);
  }

  /** What would be searched if these meanings were held from now on, over another index, which may reveal texts. */
  async heldOver(
    meanings: readonly CapabilityMeaning[],
    vectors: LayeredIndex,
    heads?: HeadSource,
  ): Promise<Searchable> {
    const past = new Map(meanings.map((meaning) => [keyOf(meaning), meaning]));
    const entries = [...this.#live.values()].map((live) => heldEntry(live, past.get(keyOf(live))) ?? live);
    for (const { texts } of entries) for (const { hash } of texts) if (!vectors.has(hash)) vectors.reveal(hash);
    return this.#view.of(entries, vectors, heads);
  }

  /** Meaning hash of every live capability, by key: what a rollback compares later states with. */
  liveHashes(): Record<string, string> {
    return Object.fromEntries(Array.from(this.#live, ([key, { meaningHash }]) => [key, meaningHash]));
  }

  /**
   * From now on these meanings are searched for the capabilities whose agents say what `liveHashes` has for them.
   * `sensitive` is never loosened. Answers how many capabilities are found by other texts for that. One step: costs
   * the words of each changed capability, 50 us each.
   */
  hold(meanings: readonly CapabilityMeaning[], liveHashes: Readonly<Record<string, string>>): number {
    const held = new Map<string, HeldMeaning>();
    for (const meaning of meanings) {
      const liveHash = liveHashes[keyOf(meaning)];
      if (liveHash !== undefined) held.set(keyOf(meaning), { entry: indexedCapability(meaning), liveHash });
    }
    this.#held = held;
    return this.#research();
  }

  /** Ends `hold`: what agents say is what is searched. */
  release(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#research();
  }

  /** Whether a capability needs the text, or a registration under way is about to. */
  needs(hash: ContentHash): boolean {
    return this.#view.owns(hash) || this.#vectors.has(hash) || this.#textVectors.isPinned(hash);
  }

  /** Forgets vectors that no capability needs and no registration under way is about to need. */
  dropUnowned(): void {
    this.#textVectors.dropOldPins();
    const unowned: string[] = [];
    for (const id of this.#vectors.ids()) {
      if (!this.#view.owns(id) && !this.#textVectors.isPinned(id)) unowned.push(id);
    }
    for (const id of unowned) this.#vectors.remove(id);
  }

  /** Puts back what another instance removed from the store and this one needs: of these hashes, or of all. */
  async restoreVectors(hashes: Iterable<ContentHash> | undefined): Promise<void> {
    this.dropUnowned();
    const wanted = [...(hashes ?? (this.#vectors.ids() as Iterable<ContentHash>))];
    await this.#store(wanted, (hash) => (this.needs(hash) ? this.#vectors.vectorOf(hash) : undefined));
  }

  /**
   * Stores those of these vectors again that no capability needs any more, so that others may have removed them. What
   * is still needed comes back by `restoreVectors`.
   */
  async storeUnowned({ ids, vectors, dimensions }: VectorRows): Promise<void> {
    const rows = new Map<ContentHash, number>();
    for (const [row, id] of ids.entries()) if (!this.#view.owns(id)) rows.set(id as ContentHash, row * dimensions);
    await this.#store([...rows.keys()], (hash) => {
      const from = rows.get(hash) ?? 0;
      return vectors.slice(from, from + dimensions);
    });
  }

  async #store(
    hashes: readonly ContentHash[],
    vectorOf: (hash: ContentHash) => Float32Array | undefined,
  ): Promise<void> {
    for (let from = 0; from < hashes.length; from += RESTORED_AT_ONCE) {
      const held = new Map<ContentHash, Float32Array>();
      for (const hash of hashes.slice(from, from + RESTORED_AT_ONCE)) {
        const vector = vectorOf(hash);
        if (vector !== undefined) held.set(hash, vector);
      }
      const { embedder, vectorStore } = this.#options;
      if (held.size > 0) await vectorStore.putMany(embedder.info.fingerprint, held);
    }
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
    if (!this.#view.put(entry)) return false;
    for (const { hash } of entry.texts) {
      if (!this.#vectors.has(hash) && !this.#vectors.reveal(hash)) this.#textVectors.addMissing(hash);
    }
    return true;
  }

  #searched(live: IndexedCapability): IndexedCapability {
    const held = this.#held?.get(keyOf(live));
    if (held === undefined || held.liveHash !== live.meaningHash) return live;
    return heldEntry(live, held.entry.meaning) ?? live;
  }

  /** Puts every capability anew; answers how many are not searched as their agents say. */
  #research(): number {
    let different = 0;
    let changed = false;
    for (const live of this.#live.values()) {
      const searched = this.#searched(live);
      if (searched.meaningHash !== live.meaningHash) different++;
      changed = this.#put(searched) || changed;
    }
    if (changed) this.#changed();
    this.#textVectors.fillInBackground();
    return different;
  }
}

/** The past meaning of a live capability, as strict as either of the two. */
function heldEntry(live: IndexedCapability, past: CapabilityMeaning | undefined): IndexedCapability | undefined {
  if (past === undefined) return undefined;
  return indexedCapability({ ...past, sensitive: past.sensitive || live.sensitive });
}

function textsOf(entries: readonly IndexedCapability[]): Map<ContentHash, string> {
  const texts = new Map<ContentHash, string>();
  for (const entry of entries) for (const { hash, text } of entry.texts) texts.set(hash, text);
  return texts;
}
