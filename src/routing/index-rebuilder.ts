import type { IndexVersion, RebuildProgress } from '../contract/index.ts';
import { AgentReachError, backoffMs, type CancelTimer, type Clock, errorText, log, publish } from '../core/index.ts';
import type { EmbedderInfo } from '../embedding/index.ts';
import {
  type IndexBuilder,
  type IndexVersionInfo,
  type LayeredIndex,
  NO_VERSION_ID,
  type VersionStore,
} from '../vector-index/index.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import type { IndexService } from './routing-service.ts';

export interface IndexRebuilderOptions {
  readonly clock: Clock;
  readonly model: EmbedderInfo;
  readonly kind: IndexVersionInfo['kind'];
  readonly indexer: CapabilityIndexer;
  readonly vectors: LayeredIndex;
  readonly store: VersionStore;
  readonly builder: IndexBuilder;
  /** A change of capabilities starts a rebuild after this much quiet ... */
  readonly debounceMs: number;
  /** ... but at the latest this long after the first change. 0 in both: only on command. */
  readonly maxWaitMs: number;
  /** A delta over this share of all vectors starts one at once: the delta is scanned exactly by every search. */
  readonly deltaShare: number;
}

interface RebuildRequest {
  readonly by: string;
  readonly why: string;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

/** A smaller delta costs a search less than a rebuild is worth. */
const LARGE_DELTA = 1_000;
const RETRY = { baseMs: 1_000, capMs: 300_000 };

/**
 * Makes index versions and puts them to work: missing texts are embedded, a builder thread builds, checks and writes,
 * the result is read into a new object and swapped in by one assignment. Routes go on over the old version until
 * then, and for good when the build fails.
 */
export class IndexRebuilder implements IndexService {
  readonly #options: IndexRebuilderOptions;
  readonly #progressListeners = new Set<(progress: RebuildProgress) => void>();
  #running: Promise<IndexVersion> | undefined;
  #cancelTimer: CancelTimer | undefined;
  #firstChangeAt: number | undefined;
  #failures = 0;
  #stopped = false;
  readonly #unsubscribe: () => void;

  constructor(options: IndexRebuilderOptions) {
    this.#options = options;
    this.#unsubscribe = options.indexer.onChange(() => this.#noteChange());
  }

  get currentVersion(): string {
    return this.#options.vectors.versionId;
  }

  async versions(): Promise<{ current: string; delta: number; items: IndexVersion[] }> {
    const items: IndexVersion[] = [];
    for (const { info } of await this.#options.store.list()) if (info !== undefined) items.push(this.#wire(info));
    return { current: this.currentVersion, delta: this.#options.vectors.deltaSize, items };
  }

  async rebuild(request: RebuildRequest): Promise<IndexVersion> {
    if (this.#stopped) throw new AgentReachError('AR_ERR_STOPPING');
    if (request.onProgress !== undefined) this.#progressListeners.add(request.onProgress);
    try {
      this.#running ??= this.#rebuild(request).finally(() => {
        this.#running = undefined;
        if (this.#firstChangeAt !== undefined) this.#schedule();
      });
      return await this.#running;
    } finally {
      if (request.onProgress !== undefined) this.#progressListeners.delete(request.onProgress);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    this.#cancelTimer?.();
    await this.#options.builder.stop();
    await this.#running?.catch(() => undefined);
  }

  async #rebuild({ by, why }: RebuildRequest): Promise<IndexVersion> {
    const { clock, builder, indexer, model, store, vectors, kind } = this.#options;
    const start = clock.now();
    this.#cancelTimer?.();
    this.#firstChangeAt = undefined;
    try {
      this.#tell({ phase: 'texts', done: 0, total: indexer.missingVectors });
      const { embedded } = await indexer.settled();
      this.#tell({ phase: 'texts', done: indexer.textCount - indexer.missingVectors, total: indexer.textCount });
      const rows = indexer.liveRows();
      const removed = vectors.hiddenSize;
      const info = await builder.build(
        {
          rows,
          kind,
          about: {
            modelId: model.modelId,
            fingerprint: model.fingerprint,
            by,
            why,
            embedded,
            reused: rows.ids.length - embedded,
            removed,
          },
        },
        (progress) => this.#tell(progress),
      );
      this.#tell({ phase: 'load', done: 0, total: 1 });
      vectors.swapBase(await store.load(info.id, { fingerprint: model.fingerprint, dimensions: model.dimensions }));
      indexer.dropUnowned();
      indexer.noteSwap();
      this.#tell({ phase: 'load', done: 1, total: 1 });
      this.#failures = 0;
      const durationMs = clock.now() - start;
      publish('index.version', { version: info.id, count: info.count, why, embedded, reused: info.reused, durationMs });
      return this.#wire(info);
    } catch (error) {
      publish('index.failed', { why, reason: errorText(error) });
      log('error', 'index rebuild failed; the version before serves on', { why, reason: errorText(error) });
      throw error;
    }
  }

  /** A change of words or of agents alone, or a restart, leaves the vectors as the version has them. */
  #isUpToDate(): boolean {
    const { indexer, vectors } = this.#options;
    indexer.dropUnowned();
    return vectors.deltaSize === 0 && vectors.hiddenSize === 0 && indexer.missingVectors === 0;
  }

  #tell(progress: RebuildProgress): void {
    for (const listener of this.#progressListeners) listener(progress);
  }

  #wire(info: IndexVersionInfo): IndexVersion {
    return { ...info, selfCheck: info.selfCheck ?? null, current: info.id === this.currentVersion };
  }

  #noteChange(): void {
    if (this.#stopped || this.#options.maxWaitMs === 0) return;
    this.#firstChangeAt ??= this.#options.clock.now();
    if (this.#running === undefined) this.#schedule();
  }

  #schedule(): void {
    const { clock, debounceMs, maxWaitMs, deltaShare, vectors } = this.#options;
    if (this.#stopped) return;
    this.#cancelTimer?.();
    const waited = clock.now() - (this.#firstChangeAt ?? clock.now());
    const isLarge = vectors.deltaSize >= LARGE_DELTA && vectors.deltaShare > deltaShare;
    const delayMs =
      this.#failures === 0
        ? isLarge
          ? 0
          : Math.max(0, Math.min(debounceMs, maxWaitMs - waited))
        : backoffMs(this.#failures, RETRY, Math.random());
    this.#cancelTimer = clock.schedule(delayMs, () => {
      if (this.#isUpToDate()) {
        this.#firstChangeAt = undefined;
        return;
      }
      const why = this.currentVersion === NO_VERSION_ID ? 'start' : isLarge ? 'delta' : 'capability_change';
      this.rebuild({ by: 'service', why }).catch(() => {
        this.#failures++;
        this.#firstChangeAt ??= clock.now();
        this.#schedule();
      });
    });
  }
}
