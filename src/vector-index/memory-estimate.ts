import type { LayeredIndex } from './layered-index.ts';

/** Estimated from sizes, since hnswlib does not tell: within a few per cent of what the parts allocate. */
export interface IndexMemory {
  /** Rows of the built version, in JavaScript's memory, with their ids. */
  readonly vectorsBytes: number;
  /** The graph of the built version; hnswlib keeps a copy of each row in it. */
  readonly graphBytes: number;
  /** Vectors since, with the room to double that the delta keeps. */
  readonly deltaBytes: number;
  /** Of `vectorsBytes` and `graphBytes`, what belongs to vectors that do not count any more; freed by a rebuild. */
  readonly tombstoneBytes: number;
}

/** An id of 32 characters, its slot in an array and its entry in a map. */
const ID_BYTES = 120;
const LINK_BYTES = 4;
/** Link count of a node on a level, its label, and its lock. */
const NODE_BYTES = 4 + 8 + 40;

/**
 * hnswlib stores on level 0 twice `links` ids and a copy of the row a node, and on each higher level `links` ids; a
 * node lies on 1 / (links - 1) higher levels on average. `links` is `m` of HnswOptions.
 */
export function estimateMemory(index: LayeredIndex, links: number): IndexMemory {
  const info = index.versionInfo;
  const rowBytes = index.dimensions * Float32Array.BYTES_PER_ELEMENT;
  const built = info?.count ?? 0;
  const graphRowBytes =
    info?.kind === 'hnsw'
      ? rowBytes + NODE_BYTES + ID_BYTES + LINK_BYTES * links * (2 + 1 / Math.max(1, links - 1))
      : 0;
  return {
    vectorsBytes: built * (rowBytes + ID_BYTES),
    graphBytes: Math.round(built * graphRowBytes),
    deltaBytes: index.deltaSize * (rowBytes * 2 + ID_BYTES),
    tombstoneBytes: Math.round(index.hiddenSize * (rowBytes + ID_BYTES + graphRowBytes)),
  };
}
