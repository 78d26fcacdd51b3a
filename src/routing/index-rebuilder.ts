import type { IndexFailure, IndexVersion, RebuildProgress } from '../contract/index.ts';
import {
  AgentReachError,
  backoffMs,
  type CancelTimer,
  type Clock,
  errorText,
  isAgentReachError,
  log,
  publish,
} from '../core/index.ts';
import type { EmbedderInfo } from '../embedding/index.ts';
import {
  type IndexBuilder,
  type IndexVersionInfo,
  type LayeredIndex,
  type LoadedVersion,
  NO_VERSION_ID,
} from '../vector-index/index.ts';
import { type CandidateCheck, failedCheck } from './candidate-check.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import type { IndexHolder } from './index-hold.ts';
import { rebuildDelayMs, restUntil } from './rebuild-pace.ts';
import type { HeadSet, PhraseHeads } from './relevance/phrase-heads.ts';
import { type BuildForAll, overtaken, type SharedVersions } from './shared/shared-versions.ts';
import type { VectorPruner } from './vector-pruner.ts';

export interface IndexRebuilderOptions {
  readonly clock: Clock;
  readonly model: EmbedderInfo;
  readonly kind: IndexVersionInfo['kind'];
  readonly indexer: CapabilityIndexer;
  readonly vectors: LayeredIndex;
  readonly holder: IndexHolder;
  readonly check: CandidateCheck;
  /** Why the first version is built, where none could be loaded. */
  readonly firstWhy: 'start' | 'model_change';
  readonly builder: IndexBuilder;
  /** Learns from phrases with each version; absent: nothing is learnt. */
  readonly heads?: PhraseHeads;
  /** Where several instances serve the same versions; absent where this one has the store to itself. */
  readonly shared?: SharedVersions | undefined;
  /** Removes the vectors that nobody needs any more from the store after each rebuild. */
  readonly pruner: VectorPruner;
  /** A change of capabilities starts a rebuild after this much quiet ... */
  readonly debounceMs: number;
  /** ... but at the latest this long after the first change. 0 in both: only on command. */
  readonly maxWaitMs: number;
  /** A delta over this share of all vectors starts one at once: the delta is scanned exactly by every search. */
  readonly deltaShare: number;
}

interface BuiltVersion extends LoadedVersion {
  readonly heads: HeadSet | undefined;
  readonly usesHeads: boolean;
}

interface RebuildRequest {
  readonly by: string;
  readonly why: string;
  readonly onProgress?: (progress: RebuildProgress) => void;
  /** Asked when it could begin; another instance may have built what was wanted. */
  readonly isWanted?: () => boolean;
}

/** A smaller delta costs a search less than a rebuild is worth. */
const LARGE_DELTA = 1_000;
const RETRY = { baseMs: 1_000, capMs: 300_000 };

/**
 * Makes index versions and puts them to work: missing texts are embedded, a builder thread builds, checks and writes,
 * the golden set is asked, and the result is swapped in by one assignment. Routes go on over the old version until
 * then, and for good when anything fails. While a rollback holds an earlier version, only a command rebuilds.
 */
export class IndexRebuilder {
  readonly #options: IndexRebuilderOptions;
  readonly #progressListeners = new Set<(progress: RebuildProgress) => void>();
  #asked: Promise<IndexVersion> | undefined;
  /** Somebody who joined wants a new version whatever the current one holds. */
  #isAskedFor = false;
  #running: Promise<IndexVersionInfo> | undefined;
  /** Work that no rebuild may run beside. */
  #alone: Promise<unknown> | undefined;
  #interrupt = new AbortController();
  #cancelTimer: CancelTimer | undefined;
  #firstChangeAt: number | undefined;
  /** A large delta starts no rebuild before. */
  #restsUntil = 0;
  #failures = 0;
  #lastFailure: IndexFailure | null = null;
  readonly #stopping = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(options: IndexRebuilderOptions) {
    this.#options = options;
    this.#unsubscribe = options.indexer.onChange(() => this.#noteChange());
  }

  /** Null again once a rebuild has succeeded. */
  get lastFailure(): IndexFailure | null {
    return this.#lastFailure;
  }

  get isBuilding(): boolean {
    return this.#running !== undefined;
  }

  /**
   * A second call while one runs joins it; so does a call while another instance builds for all. Error:
   * AR_ERR_INDEX_OVERTAKEN where `runAlone` or another instance ended it.
   */
  async rebuild(request: RebuildRequest): Promise<IndexVersion> {
    if (this.#isStopped) throw new AgentReachError('AR_ERR_STOPPING');
    if (request.onProgress !== undefined) this.#progressListeners.add(request.onProgress);
    if (request.isWanted === undefined) this.#isAskedFor = true;
    try {
      this.#asked ??= this.#once(request).finally(() => {
        this.#asked = undefined;
        this.#isAskedFor = false;
        if (this.#firstChangeAt !== undefined) this.#schedule();
      });
      return await this.#asked;
    } catch (error) {
      throw this.#isStopped || !isInterruption(error) ? error : overtaken(error);
    } finally {
      if (request.onProgress !== undefined) this.#progressListeners.delete(request.onProgress);
    }
  }

  /** Ends a rebuild under way (AR_ERR_INDEX_OVERTAKEN for who waits for it) and runs the task with none beside it. */
  async runAlone<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#isStopped) throw new AgentReachError('AR_ERR_STOPPING');
    const before = this.#alone;
    const run = async (): Promise<Result> => {
      await before?.catch(() => undefined);
      this.#interrupt.abort();
      await this.#running?.catch(() => undefined);
      return task();
    };
    const running = run();
    this.#alone = running;
    try {
      return await running;
    } finally {
      if (this.#alone === running) this.#alone = undefined;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe();
    this.#cancelTimer?.();
    this.#interrupt.abort();
    this.#options.heads?.stop();
    await this.#options.builder.stop();
    await this.#asked?.catch(() => undefined);
    await this.#alone?.catch(() => undefined);
    await this.#options.pruner.settled();
  }

  /** What cannot be put to work although it should be. */
  noteFailure(error: unknown, why: string): unknown {
    const named = this.#withTexts(error);
    // Interrupted by a rollback or a stop: nothing went wrong.
    if (isInterruption(named)) return named;
    const { clock } = this.#options;
    const reason = errorText(named);
    const failed = failedCheck(named);
    this.#lastFailure = { at: new Date(clock.wallNow()).toISOString(), why, reason, ...failed };
    const { check, lines } = failed;
    publish('index.failed', check === null ? { why, reason } : { why, reason, check, lines });
    log('error', 'no new index version was put to work; the one before serves on', { why, reason, ...failed });
    return named;
  }

  /** A version was put to work, of whichever instance: each rests from what it cost whoever built it. */
  noteSuccess(durationMs: number): void {
    this.#failures = 0;
    this.#lastFailure = null;
    this.#restsUntil = restUntil(this.#options.clock.now(), durationMs);
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #once(request: RebuildRequest): Promise<IndexVersion> {
    const { shared, vectors } = this.#options;
    const isWanted = (): boolean => this.#isAskedFor || request.isWanted?.() !== false;
    let isBuiltHere = false;
    const build = async (forAll?: BuildForAll): Promise<IndexVersionInfo> => {
      const info = await this.#run(request, forAll);
      isBuiltHere = true;
      return info;
    };
    const once = { isWanted, signal: this.#stopping.signal };
    const info = await (shared === undefined ? build() : shared.buildOnce(once, build)).catch((error: unknown) => {
      // Who builds cannot be agreed on, for example: what failed in a build, here or at the other one, is told already.
      if (errorText(error) !== this.#lastFailure?.reason) this.noteFailure(error, request.why);
      throw error;
    });
    // Not before the claim is let go: nothing is pruned while somebody builds.
    if (isBuiltHere) this.#options.pruner.start();
    return wireVersion(info, vectors.versionId);
  }

  async #run(request: RebuildRequest, forAll?: BuildForAll): Promise<IndexVersionInfo> {
    await this.#alone?.catch(() => undefined);
    if (this.#isStopped) throw new AgentReachError('AR_ERR_STOPPING');
    this.#running = this.#rebuild(request, forAll).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #rebuild(request: RebuildRequest, forAll: BuildForAll | undefined): Promise<IndexVersionInfo> {
    const { clock } = this.#options;
    const start = clock.now();
    this.#cancelTimer?.();
    this.#firstChangeAt = undefined;
    this.#interrupt = new AbortController();
    try {
      const built = await this.#build(request, forAll);
      const { info } = built;
      if (forAll === undefined) await this.#options.holder.end();
      this.#tell({ phase: 'load', done: 0, total: 1 });
      this.#swap(built, forAll?.fence);
      publish('step', { name: 'rebuild.swapped' });
      this.#tell({ phase: 'load', done: 1, total: 1 });
      const { id: version, count, embedded, reused, why } = info;
      const durationMs = clock.now() - start;
      this.noteSuccess(durationMs);
      publish('index.version', { version, count, why, embedded, reused, durationMs });
      return info;
    } catch (error) {
      throw this.noteFailure(error, request.why);
    } finally {
      // Published, and then not put to work: it is followed as one of another instance.
      this.#options.shared?.tell();
    }
  }

  async #build({ by, why }: RebuildRequest, forAll: BuildForAll | undefined): Promise<BuiltVersion> {
    const { builder, indexer, model, vectors, kind, check, holder } = this.#options;
    const signal =
      forAll === undefined ? this.#interrupt.signal : AbortSignal.any([this.#interrupt.signal, forAll.lost]);
    this.#tell({ phase: 'texts', done: 0, total: indexer.textCount });
    const settled = await indexer.settled();
    this.#tell({ phase: 'texts', done: indexer.textCount - indexer.missingVectors, total: indexer.textCount });
    const input = await indexer.buildInput(forAll !== undefined);
    const { rows, catalogue, catalogueDigest, embedded: late, entries, absent } = input;
    const learnt = await this.#options.heads?.learn(entries, signal);
    const heads = learnt?.encode();
    const announce = await forAll?.prepare({ absent, catalogue, heads });
    const embedded = settled.embedded + late;
    const { modelId, fingerprint } = model;
    const reused = rows.ids.length - embedded;
    let candidate: LoadedVersion | undefined;
    let usesHeads = true;
    const info = await builder.build(
      {
        id: forAll?.id,
        rows,
        kind,
        catalogue,
        heads,
        about: { modelId, fingerprint, by, why, embedded, reused, removed: vectors.hiddenSize, catalogueDigest },
        signal,
        announce:
          announce &&
          (async (built) => {
            await indexer.storeUnowned(rows);
            await announce(built);
          }),
        approve: async (loaded) => {
          candidate = loaded;
          const onDone = (done: number, total: number): void => this.#tell({ phase: 'golden', done, total });
          const isHeld = holder.current !== null;
          await vectors.compareWith(loaded);
          const { selfCheck, outcome, ...found } = await check.run({ version: loaded, heads: learnt, isHeld }, onDone);
          usesHeads = found.usesHeads;
          publish('index.golden', { right: outcome.right, wrong: outcome.wrong.length });
          return selfCheck;
        },
      },
      (progress) => this.#tell(progress),
    );
    if (candidate === undefined) throw new AgentReachError('AR_ERR_INTERNAL', { detail: 'No version was loaded.' });
    return { info, index: candidate.index, heads: learnt, usesHeads };
  }

  /**
   * One synchronous step: no route sees the new version with the old texts, or the other way round. What was heard
   * between publishing and this step wins.
   */
  #swap({ info, index, heads, usesHeads }: BuiltVersion, fence: number | undefined): void {
    const { vectors, indexer, holder, shared } = this.#options;
    if (fence !== undefined) {
      shared?.assertNewest(fence);
      holder.follow(null);
    }
    vectors.swapBase({ info, index });
    if (heads !== undefined) this.#options.heads?.use(heads, usesHeads);
    indexer.release();
    indexer.dropUnowned();
    indexer.noteSwap();
    if (fence !== undefined) shared?.noteServed(fence);
  }

  /** The builder knows texts by their hashes only. */
  #withTexts(error: unknown): unknown {
    if (!isAgentReachError(error) || error.issues.length === 0) return error;
    const issues = error.issues.map(({ path, message }) => {
      const text = this.#options.indexer.textOf(path.replace('unreachable.', ''));
      return { path, message: text === undefined ? message : `"${text}" ${message}` };
    });
    return new AgentReachError(error.code, { detail: error.message, issues, cause: error });
  }

  /** A restart, or a change that was undone, leaves everything as the version has it. */
  #isUpToDate(): boolean {
    const { indexer, vectors, heads, shared } = this.#options;
    indexer.dropUnowned();
    // Of all instances, and on its way here.
    if (shared?.isServed === false) {
      const { info, absent } = shared.current ?? {};
      if (info?.catalogueDigest === indexer.catalogueDigest && absent?.length === 0) return true;
    }
    return (
      (heads?.isUpToDate(indexer.liveEntries()) ?? true) &&
      vectors.deltaSize === 0 &&
      vectors.hiddenSize === 0 &&
      indexer.missingVectors === 0 &&
      (vectors.versionInfo?.catalogueDigest === indexer.catalogueDigest || indexer.textCount === 0)
    );
  }

  #tell(progress: RebuildProgress): void {
    for (const listener of this.#progressListeners) listener(progress);
  }

  #noteChange(): void {
    if (this.#isStopped || this.#options.maxWaitMs === 0) return;
    this.#firstChangeAt ??= this.#options.clock.now();
    if (this.#asked === undefined) this.#schedule();
  }

  #schedule(): void {
    const { clock, debounceMs, maxWaitMs, deltaShare, vectors, holder, firstWhy } = this.#options;
    this.#cancelTimer?.();
    if (this.#isStopped || holder.current !== null) return;
    const now = clock.now();
    const isDeltaLarge = vectors.deltaSize >= LARGE_DELTA && vectors.deltaShare > deltaShare;
    const state = { now, firstChangeAt: this.#firstChangeAt ?? now, isDeltaLarge, restsUntil: this.#restsUntil };
    const delayMs =
      this.#failures === 0
        ? rebuildDelayMs({ debounceMs, maxWaitMs }, state)
        : backoffMs(this.#failures, RETRY, Math.random());
    this.#cancelTimer = clock.schedule(delayMs, () => {
      if (holder.current !== null) return;
      if (this.#isUpToDate()) {
        this.#firstChangeAt = undefined;
        return;
      }
      const why = vectors.versionId === NO_VERSION_ID ? firstWhy : isDeltaLarge ? 'delta' : 'capability_change';
      this.rebuild({ by: 'service', why, isWanted: () => !this.#isUpToDate() }).catch((error: unknown) => {
        if (!isAgentReachError(error) || error.code !== 'AR_ERR_INDEX_OVERTAKEN') this.#failures++;
        this.#firstChangeAt ??= clock.now();
        this.#schedule();
      });
    });
  }
}

/** Inside of a rebuild a stop, and what overtakes it here, end it by the first code; another instance by the second. */
function isInterruption(error: unknown): boolean {
  return isAgentReachError(error) && (error.code === 'AR_ERR_STOPPING' || error.code === 'AR_ERR_INDEX_OVERTAKEN');
}

export function wireVersion(info: IndexVersionInfo, currentVersion: string): IndexVersion {
  const { efSearch: _efSearch, strays: _strays, catalogueDigest: _digest, selfCheck, ...shown } = info;
  return { ...shown, selfCheck: selfCheck ?? null, current: info.id === currentVersion };
}
