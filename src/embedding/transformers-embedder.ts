import type { ChildProcess } from 'node:child_process';
import { AgentReachError, type Clock, publish, systemClock } from '../core/index.ts';
import { BatchQueue } from './batch-queue.ts';
import type { Embedder, EmbedderHealth, EmbedderInfo, EmbedOptions } from './embedder.ts';
import { forkModule } from './fork-module.ts';
import { type ModelRow, resolveModelsPath } from './model-catalog.ts';
import { clipText, estimateTokens } from './text-window.ts';
import { unusable, WorkerHost } from './worker-host.ts';
import type { WorkerSettings } from './worker-messages.ts';

export interface TransformersEmbedderOptions {
  readonly model: ModelRow;
  /** Folder that holds the model folders; default models/ of the package. */
  readonly modelsPath?: string;
  readonly clock?: Clock;
  /** Query texts that may wait. More: refused with AR_ERR_OVERLOADED. Each costs some 3 ms of waiting. */
  readonly maxQueuedQueries?: number;
  /** Document texts that may wait: room for a registration of thousands of capabilities at once. */
  readonly maxQueuedDocuments?: number;
  /** A load that takes longer counts as failed. */
  readonly loadTimeoutMs?: number;
  /** A run that takes longer counts as hung: its process is replaced. */
  readonly runTimeoutMs?: number;
  /** How long `stop()` lets queued and running work go on; also how long it waits for the process to end. */
  readonly stopTimeoutMs?: number;
  /** First wait before a broken process is replaced; doubles up to `restartCapMs`. */
  readonly restartBaseMs?: number;
  readonly restartCapMs?: number;
  /** Module that the process runs; another one speaks worker-messages.ts too. */
  readonly workerModule?: URL;
  /** Told of every process that is started, for those who watch its memory or end it. */
  readonly onWorker?: (worker: ChildProcess) => void;
}

const DEFAULTS = {
  clock: systemClock,
  maxQueuedQueries: 1_024,
  maxQueuedDocuments: 65_536,
  loadTimeoutMs: 60_000,
  runTimeoutMs: 10_000,
  stopTimeoutMs: 5_000,
  restartBaseMs: 500,
  restartCapMs: 30_000,
  // .ts from source, .js when built: the same as this file.
  workerModule: new URL(`./embedding-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
};

const MAX_BATCH_TEXTS = 16;

/**
 * A local model of models/ in one process of its own with one ONNX session. Each run takes what waits, at most 16 texts;
 * queries first. The calling thread pays microseconds. Broken processes are replaced by worker-host.ts.
 */
export class TransformersEmbedder implements Embedder {
  readonly info: EmbedderInfo;
  readonly #options: TransformersEmbedderOptions & typeof DEFAULTS;
  readonly #queue: BatchQueue;
  readonly #host: WorkerHost;
  readonly #listeners = new Set<(health: EmbedderHealth) => void>();
  #isStarted = false;
  #isPumpDue = false;
  #areDocumentsStopped = false;
  #stopped: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: TransformersEmbedderOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { model, maxQueuedQueries, maxQueuedDocuments } = this.#options;
    this.info = { modelId: model.id, fingerprint: model.fingerprint, dimensions: model.dimensions };
    this.#queue = new BatchQueue({
      maxQueuedQueries,
      maxQueuedDocuments,
      maxBatchTexts: MAX_BATCH_TEXTS,
      now: () => this.#options.clock.now(),
      costOf: (text) => estimateTokens(text, model.maxTokens),
    });
    this.#host = new WorkerHost({
      ...this.#options,
      spawn: () => this.#spawn(),
      onHealth: (health) => this.#onHostHealth(health),
    });
  }

  get health(): EmbedderHealth {
    return this.#stopped === undefined ? this.#host.health : { state: 'stopped' };
  }

  /** Texts that wait for a run, for the metrics. */
  get waitingTexts(): number {
    return this.#queue.waiting;
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    this.#refuseUnlessServing();
    if (options.kind === 'document' && this.#areDocumentsStopped) throw new AgentReachError('AR_ERR_STOPPING');
    if (texts.length === 0) return [];
    const { model } = this.#options;
    const prefix = model.prefixes[options.kind];
    const inputs = texts.map((text) => prefix + clipText(text, model.maxTokens));
    const vectors = this.#queue.offer(inputs, options.kind, options.deadlineAt);
    this.#pumpSoon();
    return Promise.all(vectors);
  }

  start(): Promise<void> {
    if (!this.#isStarted && this.#stopped === undefined) {
      this.#isStarted = true;
      publish('embedding.state', { state: 'starting', reason: null });
    }
    return this.#host.start();
  }

  stopDocuments(): void {
    this.#areDocumentsStopped = true;
    this.#queue.rejectWaiting('document', new AgentReachError('AR_ERR_STOPPING'));
  }

  stop(): Promise<void> {
    if (this.#stopped === undefined) {
      // Set before the health is told, so that a listener who asks for it hears the same.
      const ended = this.#end();
      this.#stopped = ended;
      this.#tell({ state: 'stopped' });
    }
    return this.#stopped;
  }

  onHealth(listener: (health: EmbedderHealth) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #refuseUnlessServing(): void {
    const { health } = this;
    if (health.state === 'stopped') throw new AgentReachError('AR_ERR_STOPPING');
    if (health.state === 'degraded') throw unusable(health.reason);
    if (!this.#isStarted) throw new AgentReachError('AR_ERR_NOT_READY', { detail: 'The embedder was not started.' });
  }

  #spawn(): ChildProcess {
    const { model, modelsPath, workerModule, onWorker } = this.#options;
    const { folder, weights, fingerprint, dimensions, maxTokens, batching } = model;
    const settings: WorkerSettings = {
      modelsPath: resolveModelsPath(modelsPath),
      folder,
      weights,
      fingerprint,
      dimensions,
      maxTokens,
      batching,
    };
    const worker = forkModule(workerModule, settings);
    onWorker?.(worker);
    return worker;
  }

  /** At the end of this turn of the loop, so that requests read in one turn share a batch. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    while (this.#host.isFree && this.#queue.waiting > 0) {
      const batch = this.#queue.take();
      const startedAt = this.#options.clock.now();
      try {
        const vectors = await this.#host.run(batch.map((waiting) => waiting.text));
        const durationMs = this.#options.clock.now() - startedAt;
        this.#queue.resolve(batch, split(vectors, this.info.dimensions), durationMs);
        publish('embedding.batch', { texts: batch.length, durationMs, waiting: this.#queue.waiting });
      } catch (error) {
        this.#queue.reject(batch, error);
      }
    }
    if (this.#queue.isIdle) this.#onIdle?.();
  }

  async #end(): Promise<void> {
    const { clock, stopTimeoutMs } = this.#options;
    const canStillRun = this.#isStarted && this.#host.health.state !== 'degraded';
    if (canStillRun && !this.#queue.isIdle) {
      await new Promise<void>((resolve) => {
        const cancel = clock.schedule(stopTimeoutMs, resolve);
        this.#onIdle = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#queue.rejectAll(new AgentReachError('AR_ERR_STOPPING'));
    await this.#host.stop(stopTimeoutMs);
  }

  #onHostHealth(health: EmbedderHealth): void {
    if (health.state === 'degraded') {
      this.#queue.rejectAll(unusable(health.reason));
      this.#onIdle?.();
    }
    if (health.state === 'ready') this.#pumpSoon();
    if (this.#stopped === undefined) this.#tell(health);
  }

  #tell(health: EmbedderHealth): void {
    publish('embedding.state', { state: health.state, reason: health.state === 'degraded' ? health.reason : null });
    for (const listener of this.#listeners) listener(health);
  }
}

/** Copies, so that one vector kept in a cache does not keep its whole batch. */
function split(vectors: Float32Array, dimensions: number): Float32Array[] {
  const parts: Float32Array[] = [];
  for (let start = 0; start < vectors.length; start += dimensions) parts.push(vectors.slice(start, start + dimensions));
  return parts;
}
