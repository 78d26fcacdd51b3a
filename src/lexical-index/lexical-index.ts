/** What is searched of one capability. Ids are chosen by the caller. */
export interface LexicalDocument {
  readonly id: string;
  /** Name segments as words: `weather query city`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly descriptions: readonly string[];
  readonly examples: readonly string[];
}

export interface LexicalHit {
  readonly id: string;
  /** BM25F score, unbounded; 1 is about one word that no other document has, 0 that only stems met. */
  readonly score: number;
  /** Share of the query's weight (inverse document frequency of stems) that this document covers, over 0, to 1. */
  readonly coverage: number;
}

/** Words of Chinese and English texts, searched by BM25 per field. Synchronous, owned by one thread. */
export interface LexicalIndex {
  readonly size: number;
  upsert(document: LexicalDocument): void;
  /** Answers whether the id was there. */
  remove(id: string): boolean;
  /** The `topK` best, best first, equal scores by coverage, then by id; only documents that share at least the stem of a word. */
  search(query: string, topK: number): LexicalHit[];
}
