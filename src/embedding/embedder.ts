/** Which side of a search a text is on; models with prefixes treat the two differently. */
export type TextKind = 'query' | 'document';

export interface EmbedOptions {
  readonly kind: TextKind;
  /**
   * On the clock's monotonic scale: nobody wants the vectors after this. Texts that would not be reached by then are
   * refused with AR_ERR_OVERLOADED at once, or given up with AR_ERR_DEADLINE when their turn comes too late.
   */
  readonly deadlineAt?: number;
}

export interface EmbedderInfo {
  /** Catalogue id, for example `zh-en-small`. */
  readonly modelId: string;
  /** SHA-256 of the weights, hex. Vectors of two fingerprints are never compared. */
  readonly fingerprint: string;
  readonly dimensions: number;
}

export type EmbedderHealth =
  | { readonly state: 'starting' }
  | { readonly state: 'ready' }
  /** `retryAt` is on the clock's monotonic scale (past while a retry runs); null where no retry is planned. */
  | { readonly state: 'degraded'; readonly reason: string; readonly retryAt: number | null }
  | { readonly state: 'stopped' };

/**
 * Turns texts into unit vectors. Never blocks the calling thread for the length of a run. The vectors belong to the
 * caller but may be shared with a cache and with other callers of the same text: read only. Results come in the order
 * of the texts. Any string has a vector, the empty one too; what goes beyond the model's window does not count.
 *
 * Errors: AR_ERR_OVERLOADED when the queue is full (nothing was embedded), AR_ERR_MODEL_UNUSABLE while the model is
 * degraded (thrown at once, never waited for; a cache in front still answers what it holds), AR_ERR_NOT_READY before
 * `start()`, AR_ERR_STOPPING after `stop()`.
 */
export interface Embedder {
  readonly info: EmbedderInfo;
  readonly health: EmbedderHealth;
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
  /** Loads and warms the model. Never throws: a model that cannot load leaves `health` degraded and heals by itself. */
  start(): Promise<void>;
  /** Refuses new and waiting documents with AR_ERR_STOPPING; queries go on. The first step of a graceful stop. */
  stopDocuments(): void;
  /** Refuses new work, lets running work end, then frees the model. */
  stop(): Promise<void>;
  /** Called on every change of `health`; the returned function stops that. */
  onHealth(listener: (health: EmbedderHealth) => void): () => void;
}
