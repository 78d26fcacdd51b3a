import { AgentReachError, type CapabilityName, type Clock, errorText, foldChinese } from '../core/index.ts';
import type { Embedder, ModelCalibration } from '../embedding/index.ts';
import type { CapabilitySpace } from './capability-space.ts';
import type { IndexedCapability } from './indexed-capability.ts';
import { fuse } from './relevance/fusion.ts';
import type { Searchable } from './search-view.ts';
import { isModelOutage } from './text-vectors.ts';

/** A capability that an intent could mean, with the evidence. */
export interface RecalledCapability {
  readonly name: CapabilityName;
  readonly sensitive: boolean;
  /** Calibrated, 0..1: 0.5 = as likely right as wrong. */
  readonly relevance: number;
  /** Cosine of its nearest text; null when nothing was embedded. */
  readonly similarity: number | null;
  /** BM25 score of its words, unbounded; 0 when no word met. */
  readonly lexicalScore: number;
  /** The registered text that lay nearest; null for a lexical hit without a vector. */
  readonly nearestText: string | null;
}

export interface RecallResult {
  /** Best first; equal relevances by name. */
  readonly capabilities: readonly RecalledCapability[];
  readonly matchedBy: 'semantic' | 'lexical';
  /** Why it is lexical only; null when the model answered. */
  readonly degradedReason: string | null;
  readonly stages: { readonly embed: number; readonly recall: number };
  /** Id of the index version that was searched; a swap may come before the answer is written. */
  readonly indexVersion?: string | undefined;
}

export interface RecallerOptions {
  readonly clock: Clock;
  readonly embedder: Embedder;
  readonly calibration: ModelCalibration;
  readonly indexer: Searchable & {
    /** Why a search may miss what is registered; null while it cannot. */
    readonly waitingReason?: string | null;
    readonly versionId?: string;
  };
}

/**
 * Step 4: one intent -> the capabilities that it could mean. Dense and lexical evidence are fused and calibrated into
 * one relevance; while the model is down the words alone decide, on their own calibration.
 */
export class Recaller {
  readonly #options: RecallerOptions;

  constructor(options: RecallerOptions) {
    this.#options = options;
  }

  /** A model that is down or answers too late is no error. Error: AR_ERR_OVERLOADED when the embedder's queue is full. */
  async recall(
    namespace: string,
    canonical: string,
    limits: { readonly recallK: number; readonly embedTimeoutMs: number },
  ): Promise<RecallResult> {
    const { clock, indexer } = this.#options;
    const start = clock.now();
    if (indexer.space(namespace) === undefined) {
      const degradedReason = degradedReasonOf(this.#options.embedder) ?? indexer.waitingReason ?? null;
      return { capabilities: [], matchedBy: 'semantic', degradedReason, stages: { embed: 0, recall: 0 } };
    }
    const { vector, problem } = await this.#embed(canonical, limits.embedTimeoutMs);
    const embedded = clock.now();
    // The space may have been emptied or replaced while the vector was made.
    const space = indexer.space(namespace);
    const capabilities = space === undefined ? [] : this.#fuse(namespace, space, canonical, vector, limits.recallK);
    const indexVersion = indexer.versionId;
    const stages = { embed: embedded - start, recall: clock.now() - embedded };
    return {
      capabilities,
      matchedBy: vector === undefined ? 'lexical' : 'semantic',
      degradedReason: problem ?? indexer.waitingReason ?? null,
      stages,
      indexVersion,
    };
  }

  async #embed(text: string, timeoutMs: number): Promise<{ vector: Float32Array | undefined; problem: string | null }> {
    const { clock, embedder } = this.#options;
    let cancel: (() => void) | undefined;
    const timeout = new Promise<never>((_, reject) => {
      cancel = clock.schedule(timeoutMs, () => {
        const detail = `the model did not answer within ${timeoutMs} ms`;
        reject(new AgentReachError('AR_ERR_MODEL_UNUSABLE', { detail }));
      });
    });
    try {
      const deadlineAt = clock.now() + timeoutMs;
      const embedded = embedder.embed([foldChinese(text)], { kind: 'query', deadlineAt });
      const [vector] = await Promise.race([embedded, timeout]);
      return { vector, problem: vector === undefined ? 'the model answered no vector' : null };
    } catch (error) {
      if (!isModelOutage(error)) throw error;
      return { vector: undefined, problem: errorText(error) };
    } finally {
      cancel?.();
    }
  }

  #fuse(
    namespace: string,
    space: CapabilitySpace,
    canonical: string,
    vector: Float32Array | undefined,
    recallK: number,
  ): RecalledCapability[] {
    const { calibration, indexer } = this.#options;
    const sources = {
      capabilityCount: space.size,
      nearest: (query: Float32Array, topK: number) => indexer.search(namespace, query, topK),
      words: (text: string, topK: number) => space.searchWords(text, topK),
      named: (name: string) => space.get(name),
      similarities: (entry: IndexedCapability, query: Float32Array) => indexer.similarities(entry, query),
      head: indexer.headFor?.(namespace),
    };
    return fuse(sources, canonical, vector, { calibration, recallK });
  }
}

/** Why answers are degraded now; null while the model is ready. */
export function degradedReasonOf(embedder: Embedder): string | null {
  const { health } = embedder;
  switch (health.state) {
    case 'ready':
      return null;
    case 'starting':
      return 'the model is starting';
    case 'stopped':
      return 'the model is stopped';
    case 'degraded':
      return health.reason;
    default:
      return health satisfies never;
  }
}
