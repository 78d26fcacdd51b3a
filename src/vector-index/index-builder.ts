import type { ResourceLimits, Worker } from 'node:worker_threads';
import { AgentReachError, errorText, spawnWorker } from '../core/index.ts';
import type { VectorRows } from './flat-index.ts';
import type { HnswOptions } from './hnsw-index.ts';
import type { BuildJob, BuildMessage, BuildProgress } from './index-builder-worker.ts';
import type { IndexVersionInfo, VectorIndex } from './vector-index.ts';
import { VersionStore } from './version-store.ts';

export interface BuildRequest {
  /** Copied for the thread, unless it lies in a SharedArrayBuffer (then nobody may write to it until the build ends). */
  readonly rows: VectorRows;
  /** `hnsw` unless given. */
  readonly kind?: IndexVersionInfo['kind'];
  readonly about: BuildJob['about'];
  readonly signal?: AbortSignal;
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
 * leak ends with it. The calling thread only copies the rows (1 ms for 1k vectors of 384 dimensions). A build that
 * fails, crashes or is stopped leaves the versions on disk as they were. `onProgress` must not throw.
 *
 * Errors: those of the version store, AR_ERR_INVALID_REQUEST for unusable rows, AR_ERR_INDEX_SELF_CHECK,
 * AR_ERR_OVERLOADED while another build runs, AR_ERR_STOPPING after `stop` or an abort (unless the version was
 * being written already: then it is finished and answered), AR_ERR_INTERNAL for a crash.
 */
export class IndexBuilder {
  readonly #options: IndexBuilderOptions;
  readonly #store: VersionStore;
  #running: Promise<unknown> | undefined;
  readonly #stopped = new AbortController();

  constructor(options: IndexBuilderOptions) {
    this.#options = options;
    this.#store = new VersionStore(options.dir);
  }

  get isBuilding(): boolean {
    return this.#running !== undefined;
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
    if (signal.aborted) throw new AgentReachError('AR_ERR_STOPPING', { detail: 'The index build was stopped.' });
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await answerOf(this.#spawn(request, stopFlag), onProgress);
    } catch (error) {
      // A thread that crashed while it wrote leaves its temporary folder; no other write can be running.
      await this.#store.open().catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #spawn(request: BuildRequest, stopFlag: BuildJob['stopFlag']): Worker {
    const { dir, keep = 3, hnsw = {}, resourceLimits } = this.#options;
    const { dimensions, ids } = request.rows;
    const isShared = request.rows.vectors.buffer instanceof SharedArrayBuffer;
    const vectors = isShared ? request.rows.vectors : request.rows.vectors.slice();
    const rows: VectorRows = { dimensions, ids, vectors };
    const job: BuildJob = { dir, keep, rows, kind: request.kind ?? 'hnsw', hnsw, stopFlag, about: request.about };
    return spawnWorker('./index-builder-worker', import.meta.url, {
      workerData: job,
      ...(isShared ? {} : { transferList: [vectors.buffer as ArrayBuffer] }),
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    });
  }
}

/** A copy of everything an index holds, as a build takes it. Costs one copied row a vector. */
export function rowsOf(index: VectorIndex): VectorRows {
  const ids = [...index.ids()];
  const vectors = new Float32Array(ids.length * index.dimensions);
  for (const [i, id] of ids.entries()) {
    const vector = index.vectorOf(id);
    if (vector !== undefined) vectors.set(vector, i * index.dimensions);
  }
  return { dimensions: index.dimensions, ids, vectors };
}

/** Settles when the thread is gone, so that nothing of it runs on behind a settled build. */
function answerOf(worker: Worker, onProgress: (progress: BuildProgress) => void): Promise<IndexVersionInfo> {
  return new Promise((resolve, reject) => {
    let info: IndexVersionInfo | undefined;
    let failure: AgentReachError | undefined;
    worker.on('message', (message: BuildMessage) => {
      if (message.type === 'progress') onProgress(message.progress);
      else if (message.type === 'done') info = message.info;
      else failure = new AgentReachError(message.code, { detail: message.detail });
    });
    worker.once('error', (cause) => {
      const detail = `The index builder thread crashed: ${errorText(cause)}`;
      failure = new AgentReachError('AR_ERR_INTERNAL', { detail, cause });
    });
    worker.once('exit', (exitCode) => {
      if (info !== undefined) return resolve(info);
      const detail = `The index builder thread ended with code ${exitCode}.`;
      reject(failure ?? new AgentReachError('AR_ERR_INTERNAL', { detail }));
    });
  });
}
