/**
 * What the embedder and its process say to each other. The process gets its settings as JSON in its first argument,
 * says `ready` or `failed` once, then answers every run in the order asked. Vectors come end to end.
 */
export interface WorkerSettings {
  readonly modelsPath: string;
  readonly folder: string;
  readonly weights: string;
  readonly fingerprint: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly batching: 'alone' | 'padded';
}

export interface RunRequest {
  readonly runId: number;
  readonly texts: readonly string[];
}

export type WorkerAnswer =
  | { readonly kind: 'ready'; readonly stagesMs: Readonly<Record<string, number>> }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'vectors'; readonly runId: number; readonly vectors: Float32Array }
  | { readonly kind: 'refused'; readonly runId: number; readonly reason: string };
