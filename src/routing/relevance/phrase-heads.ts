/**
 * The heads that answer now, one a namespace. They are learnt when an index version is built, lie beside it, and come
 * and go with it: a restart loads them, a rollback brings back those of then. Between two versions a capability whose
 * phrases became others is judged by other evidence until the next one.
 */
import { type ContentHash, contentHash, errorText, log, nextTurn } from '../../core/index.ts';
import type { ModelCalibration } from '../../embedding/index.ts';
import type { IndexVersionInfo } from '../../vector-index/index.ts';
import type { CapabilitySpace } from '../capability-space.ts';
import type { IndexedCapability } from '../indexed-capability.ts';
import { MIN_PHRASES, type PhraseClass, PhraseHead } from './phrase-head.ts';
import { decodeHeads, encodeHeads, type LearntClass, type LearntHead } from './phrase-head-file.ts';
import type { TrainedHead } from './phrase-learning.ts';
import type { TrainingTask } from './training-parts.ts';

/** Where a recall finds the head of a namespace. */
export interface HeadSource {
  /** `space` holds what is searched, to see which capabilities are still what was learnt. */
  headFor(namespace: string, space: CapabilitySpace): PhraseHead | undefined;
  /** What a capability asks for, as a multiple of `minRelevance`. */
  thresholdOf(namespace: string, name: string, space: CapabilitySpace): number;
}

export interface PhraseHeadsOptions {
  readonly vectorOf: (hash: ContentHash) => Float32Array | undefined;
  readonly trainer: {
    train(task: TrainingTask, signal?: AbortSignal): Promise<TrainedHead>;
    stop(): void;
  };
  /** By which ranking weights and thresholds are learnt; without it none are. */
  readonly calibration?: ModelCalibration;
}

/** What was learnt for one version. Immutable. */
export class HeadSet implements HeadSource {
  readonly learnt: readonly LearntHead[];
  readonly #byNamespace: ReadonlyMap<string, NamespaceHead>;
  readonly #current = new WeakMap<CapabilitySpace, CurrentHead>();

  constructor(learnt: readonly LearntHead[]) {
    this.learnt = learnt;
    this.#byNamespace = new Map(learnt.map((one) => [one.namespace, namespaceHead(one)]));
  }

  /** 1 where nothing was learnt, and where a capability lost most of the phrases that it was learnt from. */
  thresholdOf(namespace: string, name: string, space: CapabilitySpace): number {
    return this.#currentOf(namespace, space)?.thresholdOf(name) ?? 1;
  }

  static decode(bytes: Uint8Array): HeadSet {
    return new HeadSet(decodeHeads(bytes));
  }

  encode(): Uint8Array<ArrayBuffer> {
    return encodeHeads(this.learnt);
  }

  /** Namespaces that something was learnt for. */
  get size(): number {
    return this.learnt.filter((one) => one.weights !== undefined || Object.keys(one.thresholds ?? {}).length > 0)
      .length;
  }

  headFor(namespace: string, space: CapabilitySpace): PhraseHead | undefined {
    return this.#currentOf(namespace, space)?.head;
  }

  #currentOf(namespace: string, space: CapabilitySpace): CurrentHead | undefined {
    let current = this.#current.get(space);
    if (current === undefined) {
      const learnt = this.#byNamespace.get(namespace);
      if (learnt === undefined) return undefined;
      current = new CurrentHead(learnt, space);
      this.#current.set(space, current);
    }
    return current;
  }
}

interface NamespaceHead {
  readonly head: PhraseHead | undefined;
  readonly thresholds: ReadonlyMap<string, number>;
  readonly classes: ReadonlyMap<string, LearntClass>;
}

function namespaceHead({ weights, thresholds, classes }: LearntHead): NamespaceHead {
  return {
    head: weights === undefined ? undefined : new PhraseHead(weights),
    thresholds: new Map(Object.entries(thresholds ?? {})),
    classes: new Map(classes.map((one) => [one.name, one])),
  };
}

/** Of what it learnt a capability must still hold half to be judged by it. */
const KEPT_SHARE = 0.5;

/**
 * What was learnt of the capabilities that are still what they were. Every route asks, so each state of a capability is
 * looked at once.
 */
class CurrentHead {
  readonly head: PhraseHead | undefined;
  readonly #learnt: NamespaceHead;
  readonly #space: CapabilitySpace;
  readonly #seen = new Map<string, { readonly entry: IndexedCapability; readonly isKept: boolean }>();

  constructor(learnt: NamespaceHead, space: CapabilitySpace) {
    this.#learnt = learnt;
    this.#space = space;
    this.head = learnt.head === undefined ? undefined : new KeptHead(learnt.head, (name) => this.#isKept(name));
  }

  thresholdOf(name: string): number {
    const factor = this.#learnt.thresholds.get(name);
    return factor !== undefined && this.#isKept(name) ? factor : 1;
  }

  #isKept(name: string): boolean {
    const entry = this.#space.get(name);
    if (entry === undefined) return false;
    const seen = this.#seen.get(name);
    if (seen?.entry === entry) return seen.isKept;
    const isKept = isStill(entry, this.#learnt.classes.get(name));
    this.#seen.set(name, { entry, isKept });
    return isKept;
  }
}

/** A head that says nothing of capabilities that became others since. */
class KeptHead extends PhraseHead {
  readonly #isKept: (name: string) => boolean;

  constructor(head: PhraseHead, isKept: (name: string) => boolean) {
    super(head);
    this.#isKept = isKept;
  }

  override logit(name: string, query: Float32Array): number | undefined {
    return this.#isKept(name) ? super.logit(name, query) : undefined;
  }
}

function isStill(entry: IndexedCapability, { phrases }: LearntClass = { name: '', phrases: [] }): boolean {
  const now = new Set<string>(phraseHashes(entry));
  return phrases.filter((hash) => now.has(hash)).length >= KEPT_SHARE * phrases.length;
}

/** Capabilities whose vectors are gathered between two turns of the event loop: about half a millisecond. */
const GATHERED_A_TURN = 32;

export class PhraseHeads implements HeadSource {
  readonly #options: PhraseHeadsOptions;
  #learnt = new HeadSet([]);
  #isUsed = false;

  constructor(options: PhraseHeadsOptions) {
    this.#options = options;
  }

  headFor(namespace: string, space: CapabilitySpace): PhraseHead | undefined {
    return this.#isUsed ? this.#learnt.headFor(namespace, space) : undefined;
  }

  thresholdOf(namespace: string, name: string, space: CapabilitySpace): number {
    return this.#isUsed ? this.#learnt.thresholdOf(namespace, name, space) : 1;
  }

  /** From now on; whoever caches recalls must be told. Not used: kept, so that it need not be learnt again. */
  use(heads: HeadSet, isUsed: boolean): void {
    this.#learnt = heads;
    this.#isUsed = isUsed;
  }

  /** What lies beside a version that is put to work; `bytes` undefined: nothing was learnt for it. */
  load(bytes: Uint8Array | undefined, { selfCheck }: IndexVersionInfo): void {
    this.use(bytes === undefined ? new HeadSet([]) : HeadSet.decode(bytes), selfCheck?.heads?.used ?? true);
  }

  /** Whether learning from these would give what is known already. */
  isUpToDate(entries: readonly IndexedCapability[]): boolean {
    const known = new Map(this.#learnt.learnt.map(({ namespace, digest }) => [namespace, digest]));
    const wanted = [...learnableOf(entries)];
    return wanted.length === known.size && wanted.every(([namespace, of]) => known.get(namespace) === digestOf(of));
  }

  /**
   * What these capabilities teach. What the serving heads learnt from the same phrases is taken over; where learning
   * fails, what serves goes on. Error: AR_ERR_STOPPING when the signal ends it.
   */
  async learn(entries: readonly IndexedCapability[], signal?: AbortSignal): Promise<HeadSet> {
    const learnt: LearntHead[] = [];
    for (const [namespace, learnable] of learnableOf(entries)) {
      const before = this.#learnt.learnt.find((one) => one.namespace === namespace);
      const digest = digestOf(learnable);
      const all = entries.filter((entry) => entry.namespace === namespace);
      const head = before?.digest === digest ? before : await this.#train(digest, learnable, all, signal);
      const kept = head ?? before;
      if (kept !== undefined) learnt.push(kept);
    }
    return new HeadSet(learnt);
  }

  stop(): void {
    this.#options.trainer.stop();
  }

  async #train(
    digest: string,
    learnable: readonly IndexedCapability[],
    all: readonly IndexedCapability[],
    signal: AbortSignal | undefined,
  ): Promise<LearntHead | undefined> {
    const namespace = all[0]?.namespace ?? '';
    try {
      const task = { classes: await this.#classesOf(learnable), registry: await this.#registryOf(all) };
      const { score, weights, rankingScore, thresholds } = await this.#options.trainer.train(task, signal);
      const { head, nearest } = score;
      const ranking = {
        own: rankingScore?.own.right,
        fitted: rankingScore?.fitted.right,
        used: weights?.ranking !== undefined,
      };
      log('info', 'a phrase head was trained', { namespace, used: weights !== undefined, head, nearest, ranking });
      const classes = learnable.map((entry) => ({ name: entry.name, phrases: phraseHashes(entry) }));
      return { namespace, digest, classes, score, weights, thresholds };
    } catch (error) {
      if (signal?.aborted === true) throw error;
      log('warn', 'a phrase head could not be trained', { namespace, reason: errorText(error) });
      return undefined;
    }
  }

  async #registryOf(entries: readonly IndexedCapability[]): Promise<TrainingTask['registry']> {
    const { calibration, vectorOf } = this.#options;
    if (calibration === undefined) return undefined;
    const vectors = new Map<string, Float32Array>();
    for (const [at, { texts }] of entries.entries()) {
      for (const { hash } of texts) {
        const vector = vectorOf(hash);
        if (vector !== undefined) vectors.set(hash, vector);
      }
      if (at % GATHERED_A_TURN === GATHERED_A_TURN - 1) await nextTurn();
    }
    return { entries, vectors, calibration };
  }

  async #classesOf(learnable: readonly IndexedCapability[]): Promise<PhraseClass[]> {
    const classes: PhraseClass[] = [];
    for (const entry of learnable) {
      classes.push(this.#classOf(entry));
      if (classes.length % GATHERED_A_TURN === 0) await nextTurn();
    }
    return classes;
  }

  #classOf(entry: IndexedCapability): PhraseClass {
    const of = (...kinds: readonly string[]): Float32Array[] =>
      entry.texts.filter(({ kind }) => kinds.includes(kind)).flatMap(({ hash }) => this.#options.vectorOf(hash) ?? []);
    return { name: entry.name, phrases: of('example', 'alias'), anchors: of('name', 'description') };
  }
}

function phraseHashes({ texts }: IndexedCapability): ContentHash[] {
  return texts.flatMap(({ kind, hash }) => (kind === 'example' || kind === 'alias' ? [hash] : []));
}

/** By namespace, where at least two capabilities have phrases enough; in an order of their own. */
function learnableOf(entries: readonly IndexedCapability[]): Map<string, IndexedCapability[]> {
  const byNamespace = new Map<string, IndexedCapability[]>();
  for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (phraseHashes(entry).length < MIN_PHRASES) continue;
    byNamespace.set(entry.namespace, [...(byNamespace.get(entry.namespace) ?? []), entry]);
  }
  for (const [namespace, learnable] of byNamespace) if (learnable.length < 2) byNamespace.delete(namespace);
  return byNamespace;
}

function digestOf(learnable: readonly IndexedCapability[]): string {
  return contentHash(
    learnable.map(({ name, texts }) => [name, ...texts.map(({ kind, hash }) => kind + hash)].join()).join('\n'),
  );
}
