export { FlatIndex, type VectorRows } from './flat-index.ts';
export { DEFAULT_HNSW, HnswIndex, type HnswOptions } from './hnsw-index.ts';
export { type BuildRequest, IndexBuilder, type IndexBuilderOptions } from './index-builder.ts';
export type { BuildProgress } from './index-builder-worker.ts';
export { LayeredIndex, type LoadedVersion, NO_VERSION_ID } from './layered-index.ts';
export { estimateMemory, type IndexMemory } from './memory-estimate.ts';
export { rowsOf, snapshotRows } from './row-snapshot.ts';
export type { IndexSelfCheck, IndexVersionInfo, Neighbor, VectorIndex } from './vector-index.ts';
export {
  type ExpectedVersion,
  numberOf,
  type RefusedVersion,
  type RowsDigest,
  type StagedVersion,
  type VersionDraft,
  type VersionEntry,
  VersionStore,
  versionIdOf,
} from './version-store.ts';
export { type VerifyProgress, type VersionFindings, verifyVersion } from './version-verifier.ts';
