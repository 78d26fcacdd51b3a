import { AgentReachError, type CapabilityName, type Clock, errorText } from '../core/index.ts';
import { type Embedder, type ModelCalibration, relevanceOf } from '../embedding/index.ts';
import type { CapabilitySpace } from './capability-space.ts';
import type { IndexedCapability } from './indexed-capability.ts';
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
}

export interface RecallerOptions {
  readonly clock: Clock;
  readonly embedder: Embedder;
  readonly calibration: ModelCalibration;
  readonly indexer: Searchable & {
    /** Why a search may miss what is registered; null while it cannot. */
    readonly waitingReason?: string | null;
  };
}

/** Lexical hits without a vector hit whose similarity is looked up one by one. */
const MAX_LOOKUPS = 8;

/**
 * Step 4: one intent -> the capabilities that it could mean. Dense and lexical evidence are fused and calibrated into
 * one relevance; while the model is down the words alone decide, on their own calibration.
 */
export class Recaller {
  readonly #options: RecallerOptions;

  constructor(options: RecallerOptions) {
    this.#options = options;
  }

  /** Error: AR_ERR_OVERLOADED when the embedder's queue is full. */
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
    const stages = { embed: embedded - start, recall: clock.now() - embedded };
    return {
      capabilities,
      matchedBy: vector === undefined ? 'lexical' : 'semantic',
      degradedReason: problem ?? indexer.waitingReason ?? null,
      stages,
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
      const [vector] = await Promise.race([embedder.embed([text], { kind: 'query' }), timeout]);
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
    const found = new Map<
      IndexedCapability,
      { similarity: number | null; lexicalScore: number; text: string | null }
    >();
    if (vector !== undefined) {
      for (const hit of indexer.search(namespace, vector, recallK)) {
        found.set(hit.entry, { similarity: hit.similarity, lexicalScore: 0, text: hit.text.text });
      }
    }
    let lookups = 0;
    for (const { entry, hit } of space.searchWords(canonical, recallK)) {
      const dense = found.get(entry);
      if (dense !== undefined) dense.lexicalScore = hit.score;
      else if (vector === undefined) found.set(entry, { similarity: null, lexicalScore: hit.score, text: null });
      else if (lookups++ < MAX_LOOKUPS) {
        const nearest = indexer.nearestText(entry, vector);
        found.set(entry, {
          similarity: nearest?.similarity ?? null,
          lexicalScore: hit.score,
          text: nearest?.text.text ?? null,
        });
      }
    }
    const recalled: RecalledCapability[] = [];
    for (const [entry, { similarity, lexicalScore, text }] of found) {
      const relevance = relevanceOf(calibration, { similarity, lexicalScore, capabilityCount: space.size });
      recalled.push({
        name: entry.name,
        sensitive: entry.sensitive,
        relevance,
        similarity,
        lexicalScore,
        nearestText: text,
      });
    }
    return recalled.sort((a, b) => b.relevance - a.relevance || (a.name < b.name ? -1 : 1)).slice(0, recallK);
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
