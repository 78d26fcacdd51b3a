import type { CapabilityMeaning } from '../capability/index.ts';
import type { LayeredIndex, LoadedVersion } from '../vector-index/index.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import type { IndexHold } from './index-hold.ts';
import type { PhraseHeads } from './relevance/phrase-heads.ts';

/** A version with what lies beside it. */
export interface WholeVersion {
  readonly loaded: LoadedVersion;
  readonly heads: Uint8Array | undefined;
  /** What it was built from. */
  readonly meanings: readonly CapabilityMeaning[];
}

export interface SwapParts {
  readonly vectors: LayeredIndex;
  readonly indexer: CapabilityIndexer;
  readonly heads?: PhraseHeads | undefined;
}

/**
 * Puts a version to work, and the texts it was built from where it is held: one synchronous step, every answer is of
 * the one or the other version. Answers how many capabilities are found by other texts now than their agents say.
 */
export function swapTo(parts: SwapParts, version: WholeVersion, hold: IndexHold | null): number {
  const { vectors, indexer, heads } = parts;
  const { loaded, meanings } = version;
  vectors.swapBase(loaded);
  heads?.load(version.heads, loaded.info);
  let restored = 0;
  if (hold === null) indexer.release();
  else restored = indexer.hold(meanings, hold.liveHashes);
  indexer.dropUnowned();
  indexer.noteSwap();
  return restored;
}
