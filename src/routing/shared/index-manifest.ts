/**
 * What instances over one store know of the index together: for each embedding model the versions that were made for
 * all of them, and the one that serves. Every instance makes its own files of a version, from its catalogue and from
 * the vectors that are stored by content hash; the checksums tell that they came out the same.
 */
import type { ContentHash } from '../../core/index.ts';
import type { IndexVersionInfo, RowsDigest } from '../../vector-index/index.ts';
import type { IndexHold } from '../index-hold.ts';

/** Bytes that are stored beside the manifest, in pieces. */
export interface SharedPart {
  /** Of the bytes as they were handed over. */
  readonly sha256: string;
  readonly pieces: number;
}

export interface SharedVersion {
  /** As whoever built it for all has it. */
  readonly info: IndexVersionInfo;
  readonly rows: RowsDigest;
  /** Texts of the catalogue that had no vector when it was built. */
  readonly absent: readonly ContentHash[];
  readonly catalogue: SharedPart;
  /** What was learnt from the phrases; null where that is nothing. */
  readonly heads: SharedPart | null;
}

export interface IndexManifest {
  /** Of the claim under which it was last changed; a change under a lower one is refused. */
  readonly fence: number;
  readonly current: string;
  /** Newest first. */
  readonly versions: readonly SharedVersion[];
}

export type PartName = 'catalogue' | 'heads';

/** The manifest of one model, and the parts of its versions. Error of every method: AR_ERR_STORE_UNAVAILABLE. */
export interface ManifestStore {
  load(): Promise<{ readonly manifest: IndexManifest | undefined; readonly hold: IndexHold | undefined }>;
  /**
   * Both or none; durable when resolved. Error: AR_ERR_STORE_CONFLICT where another instance changed them after what
   * this one has read.
   */
  save(manifest: IndexManifest, hold: IndexHold | null): Promise<void>;
  putPart(version: string, name: PartName, bytes: Uint8Array): Promise<SharedPart>;
  /** Error: AR_ERR_INDEX_CORRUPT where it is not whole any more. */
  part(version: string, name: PartName, part: SharedPart): Promise<Uint8Array<ArrayBuffer>>;
  /** Removes the parts of every version that is not kept. */
  pruneParts(isKept: (version: string) => boolean): Promise<void>;
  /** Of another model, the manifest and a store of its own. */
  others(): Promise<readonly { readonly fingerprint: string; readonly manifest: IndexManifest }[]>;
  /** The same for another model. */
  of(fingerprint: string): ManifestStore;
  /** Removes all that is kept of a model. */
  forget(fingerprint: string): Promise<void>;
}
