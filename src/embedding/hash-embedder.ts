import { createHash } from 'node:crypto';
import { AgentReachError, canonicalText } from '../core/index.ts';
import type { Embedder, EmbedderHealth, EmbedderInfo, EmbedOptions } from './embedder.ts';

export interface HashEmbedderOptions {
  /** Fewer are quicker to search; under 64 unrelated texts begin to look alike. Default 384. */
  readonly dimensions?: number;
}

/**
 * Deterministic and without a model: words, character pairs and triples, each hashed to one signed dimension. Texts
 * that share words or Chinese characters are near, meaning plays no part. For the tests of other rooms and for a run
 * without a model; `failWith` plays a broken one.
 */
export class HashEmbedder implements Embedder {
  readonly info: EmbedderInfo;
  readonly #listeners = new Set<(health: EmbedderHealth) => void>();
  #health: EmbedderHealth = { state: 'starting' };
  #embeddedTexts = 0;
  #areDocumentsStopped = false;

  constructor({ dimensions = 384 }: HashEmbedderOptions = {}) {
    const fingerprint = createHash('sha256').update(`agent-reach hash embedder 1, ${dimensions}`).digest('hex');
    this.info = { modelId: 'hash', fingerprint, dimensions };
  }

  get health(): EmbedderHealth {
    return this.#health;
  }

  /** How many texts were embedded so far: what a test of "no text is embedded twice" counts. */
  get embeddedTexts(): number {
    return this.#embeddedTexts;
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    const health = this.#health;
    if (options.kind === 'document' && this.#areDocumentsStopped) throw new AgentReachError('AR_ERR_STOPPING');
    if (health.state === 'stopped') throw new AgentReachError('AR_ERR_STOPPING');
    if (health.state === 'starting') throw new AgentReachError('AR_ERR_NOT_READY');
    if (health.state === 'degraded') throw new AgentReachError('AR_ERR_MODEL_UNUSABLE', { detail: health.reason });
    this.#embeddedTexts += texts.length;
    return texts.map((text) => hashedVector(text, this.info.dimensions));
  }

  async start(): Promise<void> {
    if (this.#health.state === 'starting') this.#setHealth({ state: 'ready' });
  }

  stopDocuments(): void {
    this.#areDocumentsStopped = true;
  }

  async stop(): Promise<void> {
    if (this.#health.state !== 'stopped') this.#setHealth({ state: 'stopped' });
  }

  onHealth(listener: (health: EmbedderHealth) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Degrades with a reason, or heals with null; a stopped embedder stays stopped. */
  failWith(reason: string | null): void {
    if (this.#health.state === 'stopped') return;
    this.#setHealth(reason === null ? { state: 'ready' } : { state: 'degraded', reason, retryAt: null });
  }

  #setHealth(health: EmbedderHealth): void {
    this.#health = health;
    for (const listener of this.#listeners) listener(health);
  }
}

/** A word says more than a piece of one. */
const WORD_WEIGHT = 2;

function hashedVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const add = (piece: string, weight: number): void => {
    const hash = fnv1a(piece);
    const dimension = hash % dimensions;
    // The top bit is free of the remainder's pattern and makes chance meetings cancel out on average.
    vector[dimension] = (vector[dimension] ?? 0) + (hash >>> 31 === 0 ? weight : -weight);
  };
  for (const word of canonicalText(text).split(/[^\p{L}\p{N}]+/u)) {
    const letters = [...word];
    if (letters.length > 0) add(word, WORD_WEIGHT);
    for (let index = 0; index + 1 < letters.length; index++) {
      add(letters.slice(index, index + 2).join(''), 1);
      if (index + 2 < letters.length) add(letters.slice(index, index + 3).join(''), 1);
    }
  }
  const length = Math.hypot(...vector);
  if (length > 0) return vector.map((value) => value / length);
  // Nothing to hash, or all cancelled out: any fixed direction will do.
  vector[0] = 1;
  return vector.map((value, index) => (index === 0 ? value : 0));
}

/** 32 bits, unsigned. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
