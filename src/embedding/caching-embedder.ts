import { LRUCache } from 'lru-cache';
import { AgentReachError, type ContentHash, contentHash } from '../core/index.ts';
import type { Embedder, EmbedderHealth, EmbedderInfo, EmbedOptions } from './embedder.ts';

/**
 * Remembers the vectors of recent queries in front of another embedder, by content hash. Documents pass through: their
 * vectors are kept on disk by the index, and a registration of thousands would push every query out. Answers what it
 * holds even while the model is degraded, since the vectors are the same. One entry takes 4 bytes a dimension.
 */
export class CachingEmbedder implements Embedder {
  readonly #inner: Embedder;
  readonly #vectors: LRUCache<ContentHash, Float32Array>;

  /** `maxEntries`: 8,192 entries of 384 dimensions take 12 MB. */
  constructor(inner: Embedder, { maxEntries = 8_192 }: { readonly maxEntries?: number } = {}) {
    this.#inner = inner;
    this.#vectors = new LRUCache({ max: maxEntries });
  }

  get info(): EmbedderInfo {
    return this.#inner.info;
  }

  get health(): EmbedderHealth {
    return this.#inner.health;
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    if (options.kind === 'document') return this.#inner.embed(texts, options);
    if (this.health.state === 'stopped') throw new AgentReachError('AR_ERR_STOPPING');
    const hashes = texts.map(contentHash);
    const vectors = hashes.map((hash) => this.#vectors.get(hash));
    const missing = texts.filter((_, index) => vectors[index] === undefined);
    const embedded = missing.length === 0 ? [] : await this.#inner.embed(missing, options);
    let next = 0;
    return vectors.map((cached, index) => {
      const vector = cached ?? embedded[next++];
      const hash = hashes[index];
      if (vector === undefined || hash === undefined) throw new AgentReachError('AR_ERR_INTERNAL');
      if (cached === undefined) this.#vectors.set(hash, vector);
      return vector;
    });
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  stopDocuments(): void {
    this.#inner.stopDocuments();
  }

  stop(): Promise<void> {
    return this.#inner.stop();
  }

  onHealth(listener: (health: EmbedderHealth) => void): () => void {
    return this.#inner.onHealth(listener);
  }
}
