/** One found vector. `similarity` is the dot product of unit vectors (cosine), about -1..1. */
export interface Neighbor {
  readonly id: string;
  readonly similarity: number;
}

/**
 * Unit vectors under string ids. Synchronous and owned by one thread; never blocks longer than one search or insert.
 * `upsert` copies the vector. Errors: AR_ERR_INVALID_REQUEST for a vector (or query) of another number of dimensions,
 * with a number that is not finite, or longer than 1, and for a topK that is not a whole number from 1; nothing is
 * changed then.
 */
export interface VectorIndex {
  readonly dimensions: number;
  /** Ids that a search can answer. */
  readonly size: number;
  has(id: string): boolean;
  /** Whether exactly this vector is stored under the id; copies nothing. */
  holds(id: string, vector: Float32Array): boolean;
  upsert(id: string, vector: Float32Array): void;
  /** Answers whether the id was there. */
  remove(id: string): boolean;
  /** The `topK` nearest, best first, equal similarities by id; fewer when the index holds fewer. topK >= 1. */
  search(query: Float32Array, topK: number): Neighbor[];
  /** Exact similarity of one stored vector; undefined for an id that is not held. */
  similarityOf(id: string, query: Float32Array): number | undefined;
  /** A copy of a stored vector. */
  vectorOf(id: string): Float32Array | undefined;
  ids(): IterableIterator<string>;
}

/** What an index version is and where it came from; kept beside it on disk with checksums. Immutable. */
export interface IndexVersionInfo {
  /** `v000001`, rising by one with each rebuild, also over restarts. */
  readonly id: string;
  readonly modelId: string;
  readonly fingerprint: string;
  readonly dimensions: number;
  readonly kind: 'hnsw' | 'flat';
  /** Vectors held. */
  readonly count: number;
  /** ISO 8601. */
  readonly builtAt: string;
  readonly buildMs: number;
  /** Who asked: `operator`, `service`. */
  readonly by: string;
  /** Why: `start`, `command`, `delta`, `capability_change`, `model_change`. */
  readonly why: string;
  /** Texts embedded for it / taken from the store / gone since the version before. */
  readonly embedded: number;
  readonly reused: number;
  readonly removed: number;
  /** Beam width of searches that passed the self-check; kind `hnsw` only. */
  readonly efSearch?: number;
  /** Ids that the graph does not lead to and that each search ranks beside it; kind `hnsw` only. */
  readonly strays?: readonly string[];
  readonly selfCheck?: IndexSelfCheck;
  /** Digest of the catalogue that it was built from; absent in versions written before there was one. */
  readonly catalogueDigest?: string;
}

/** What the version was tried on before it was put to work. */
export interface IndexSelfCheck {
  /** Share of the true ten nearest that the graph found. */
  readonly recallAt10: number;
  readonly samples: number;
  /** Stored vectors that are found when asked for themselves, of all: 1 in every version that serves. */
  readonly reachableShare?: number;
  /** Golden lines that it answered right, of all, when it was checked. */
  readonly golden?: { readonly right: number; readonly lines: number };
  /** Heads learnt for it that answer better than the nearest phrase; unused where the golden set was worse for them. */
  readonly heads?: { readonly learnt: number; readonly used: boolean };
}
