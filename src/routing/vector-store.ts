import type { ContentHash } from '../core/index.ts';

/**
 * Vectors by model fingerprint and content hash: what has been embedded once is never embedded again, over restarts.
 * Error: AR_ERR_STORE_UNAVAILABLE.
 */
export interface VectorStore {
  getMany(fingerprint: string, hashes: readonly ContentHash[]): Promise<Map<ContentHash, Float32Array>>;
  /**
   * Durable when resolved. The first vector of a hash stays: answers what is stored under these hashes now, which
   * another instance may have put meanwhile.
   */
  putMany(
    fingerprint: string,
    vectors: ReadonlyMap<ContentHash, Float32Array>,
  ): Promise<ReadonlyMap<ContentHash, Float32Array>>;
  /**
   * Removes what is not kept, of every fingerprint, in slices between which others run; answers how many. What is
   * asked again and wanted by then stays.
   */
  prune(isKept: (fingerprint: string, hash: ContentHash) => boolean): Promise<number>;
}
