import type { ResourceLimits, Worker } from 'node:worker_threads';
import { AgentReachError, errorText, publish, spawnWorker } from '../core/index.ts';
import type { VectorRows } from './flat-index.ts';
import type { HnswOptions } from './hnsw-index.ts';
import type { BuildJob, BuildMessage, BuildProgress } from './index-builder-worker.ts';
import type { LoadedVersion } from './layered-index.ts';
import type { IndexSelfCheck, IndexVersionInfo } from './vector-index.ts';
import { type StagedVersion, VersionStore } from './version-store.ts';

export interface BuildRequest {
  /** The next one of the folder unless given. */
  readonly id?: string | undefined;
  /** Copied for the thread, unless it lies in a SharedArrayBuffer (then nobody may write to it until the build ends). */
  readonly rows: VectorRows;
  /** `hnsw` unless given. */
  readonly kind?: IndexVersionInfo['kind'];
  /** JSON that is kept with the version as it is; moved to the thread, so the caller loses it. */
  readonly catalogue?: Uint8Array<ArrayBuffer>;
  /** Kept with the version as it is; copied. */
  readonly heads?: Uint8Array | undefined;
  readonly about: BuildJob['about'];
  readonly signal?: AbortSignal;
  /**
   * Tries the finished version before it counts; whatever this throws becomes the build's error and the version is
   * forgotten. What it answers is kept with the version.
   */
  readonly approve?: (candidate: LoadedVersion) => Promise<Partial<IndexSelfCheck>>;
  /** Called last before the version counts, with what it will be; what this throws becomes the build's error too. */
  readonly announce?: ((version: Pick<StagedVersion, 'info' | 'rows'>) => Promise<void>) | undefined;
}

export interface IndexBuilderOptions {
  /** Data folder; versions lie in `<dir>/versions`. */
  readonly dir: string;
  /** Versions kept on disk, 3 unless given. */
  readonly keep?: number;
  readonly hnsw?: Partial<HnswOptions>;
  /** Memory caps of the thread, as worker_threads takes them; none unless given. */
  readonly resourceLimits?: ResourceLimits;
}

/**
 * Builds index versions in a thread of its own, one at a time; each build gets a new thread, so that a crash or a
 * leak ends with it. The thread leaves a whole version in a temporary folder; it is loaded, tried by `approve`, and
 * only then renamed to count. A build that fails, crashes or is stopped leaves the versions on disk as they were.
 * `onProgress` must not throw.
 *
 * Errors: those of the version store, AR_ERR_INVALID_REQUEST for unusable rows, AR_ERR_INDEX_SELF_CHECK,
 * AR_ERR_OVERLOADED while another build runs, AR_ERR_STOPPING after `stop` or an abort, AR_ERR_INTERNAL for a crash.
 */
export class IndexBuilder {
  readonly #options: IndexBuilderOptions;
  readonly #store: VersionStore;
  #running: Promise<unknown> | undefined;
  readonly #stopped = new AbortController();

  constructor(options: IndexBuilderOptions) {
    this.#options = options;
    this.#store = new VersionStore(options.dir, { keep: options.keep ?? 3 });
  }

  async build(
    request: BuildRequest,
    onProgress: (progress: BuildProgress) => void = () => {},
  ): Promise<IndexVersionInfo> {
    if (this.#running !== undefined) {
      throw new AgentReachError('AR_ERR_OVERLOADED', { detail: 'Another index version is being built.' });
    }
    const building = this.#build(request, onProgress);
    this.#running = building;
    try {
      return await building;
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Ends a running build and refuses later ones. Resolves when the thread is gone: within one insert, or at the end of
   * a write that has begun. Call it before the process exits; an exit in the middle of an insert aborts.
   */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running?.catch(() => {});
  }

  async #build(request: BuildRequest, onProgress: (progress: BuildProgress) => void): Promise<IndexVersionInfo> {
    const signal =
      request.signal === undefined ? this.#stopped.signal : AbortSignal.any([this.#stopped.signal, request.signal]);
    const stopFlag = new Int32Array(new SharedArrayBuffer(4));
    const onAbort = (): void => {
      Atomics.store(stopFlag, 0, 1);
    };
    if (signal.aborted) throw stopped();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const notedSteps = new Int32Array(new SharedArrayBuffer(4));
      const staged = await answerOf(this.#spawn(request, stopFlag, notedSteps), notedSteps, onProgress);
      return await this.#admit(staged, request, signal);
    } catch (error) {
      // A thread that crashed while it wrote leaves its temporary folder; no other write can be running.
      await this.#store.open().catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Whether a staged version may serve, and the rename that makes it one. */
  async #admit(staged: StagedVersion, request: BuildRequest, signal: AbortSignal): Promise<IndexVersionInfo> {
    const { approve, announce } = request;
    try {
      let { selfCheck } = staged.info;
      if (approve !== undefined) {
        const candidate = await this.#store.loadStaged(staged);
        publish('step', { name: 'rebuild.loaded' });
        selfCheck = { recallAt10: 1, samples: 0, ...selfCheck, ...(await approve(candidate)) };
        publish('step', { name: 'rebuild.checked' });
      }
      if (signal.aborted) throw stopped();
      await announce?.({
        info: selfCheck === undefined ? staged.info : { ...staged.info, selfCheck },
        rows: staged.rows,
      });
      const info = await this.#store.commit(staged, selfCheck);
      publish('step', { name: 'rebuild.renamed' });
      return info;
    } catch (error) {
      await this.#store.discard(staged);
      throw error;
    }
  }

  #spawn(request: BuildRequest, stopFlag: BuildJob['stopFlag'], notedSteps: BuildJob['notedSteps']): Worker {
    const { dir, hnsw = {}, resourceLimits } = this.#options;
    const { dimensions, ids } = request.rows;
    const isShared = request.rows.vectors.buffer instanceof SharedArrayBuffer;
    const vectors = isShared ? request.rows.vectors : request.rows.vectors.slice();
    const rows: VectorRows = { dimensions, ids, vectors };
    const { id, catalogue, heads, about, kind = 'hnsw' } = request;
    const job: BuildJob = { dir, id, rows, catalogue, heads, kind, hnsw, stopFlag, notedSteps, about };
    const moved = [...(isShared ? [] : [vectors.buffer]), ...(catalogue === undefined ? [] : [catalogue.buffer])];
    return spawnWorker('./index-builder-worker', import.meta.url, {
      workerData: job,
      transferList: moved as ArrayBuffer[],
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    });
  }
}

function stopped(): AgentReachError {
  return new AgentReachError('AR_ERR_STOPPING', { detail: 'The index build was stopped.' });
}

/** Settles when the thread is gone, so that nothing of it runs on behind a settled build. */
function answerOf(
  worker: Worker,
  notedSteps: BuildJob['notedSteps'],
  onProgress: (progress: BuildProgress) => void,
): Promise<StagedVersion> {
  return new Promise((resolve, reject) => {
    let staged: StagedVersion | undefined;
    let failure: AgentReachError | undefined;
    worker.on('message', (message: BuildMessage) => {
      if (message.type === 'progress') onProgress(message.progress);
      else if (message.type === 'step') {
        publish('step', { name: `rebuild.${message.step}` });
        Atomics.add(notedSteps, 0, 1);
        Atomics.notify(notedSteps, 0);
      } else if (message.type === 'done') staged = message.staged;
      else failure = new AgentReachError(message.code, { detail: message.detail, issues: message.issues });
    });
    worker.once('error', (cause) => {
      const detail = `The index builder thread crashed: ${errorText(cause)}`;
      failure = new AgentReachError('AR_ERR_INTERNAL', { detail, cause });
    });
    worker.once('exit', (exitCode) => {
      if (staged !== undefined) return resolve(staged);
      const detail = `The index builder thread ended with code ${exitCode}.`;
      reject(failure ?? new AgentReachError('AR_ERR_INTERNAL', { detail }));
    });
  });
}
