/** Searching inside the service against hnswlib-node alone, on the same graph. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HierarchicalNSW } from 'hnswlib-node';
import { DEFAULT_HNSW, FlatIndex, HnswIndex, LayeredIndex } from '../../src/vector-index/index.ts';
import { median } from '../http-load.ts';
import { type BenchCase, type Finding, isQuick, shown } from '../report.ts';
import { clusteredRows } from '../stored-registry.ts';

const { HierarchicalNSW: Graph } = createRequire(import.meta.url)('hnswlib-node') as {
  HierarchicalNSW: typeof HierarchicalNSW;
};
const DIMENSIONS = 384;
const TOP_K = 32;
const QUERIES = 200;
const ROUNDS = 9;
const SIZES = isQuick ? [1_000] : [1_000, 10_000, 100_000];

export const vectorSearchCase: BenchCase = {
  name: 'vector search',
  async run() {
    const findings: Finding[] = [];
    for (const size of SIZES) findings.push(compare(size));
    return findings;
  },
};

function compare(size: number): Finding {
  const rows = clusteredRows(size + QUERIES, DIMENSIONS, size);
  const at = (i: number): Float32Array => rows.vectors.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS);
  const held = {
    dimensions: DIMENSIONS,
    ids: rows.ids.slice(0, size),
    vectors: rows.vectors.slice(0, size * DIMENSIONS),
  };
  const start = performance.now();
  const ours = HnswIndex.build(held);
  const buildMs = performance.now() - start;
  const info = {
    id: 'v000001',
    modelId: 'bench',
    fingerprint: 'bench',
    dimensions: DIMENSIONS,
    kind: 'hnsw' as const,
    count: size,
    builtAt: '',
    buildMs,
    by: 'bench',
    why: 'bench',
    embedded: 0,
    reused: 0,
    removed: 0,
  };
  const layered = new LayeredIndex(DIMENSIONS, { info, index: ours });
  const raw = sameGraph(ours);
  const exact = FlatIndex.fromRows(held);

  const queries = Array.from({ length: QUERIES }, (_, i) => at(size + i));
  const plain = queries.map((query) => [...query]);
  const usRaw: number[] = [];
  const usOurs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    usRaw.push(microseconds(plain, (query) => raw.searchKnn(query, TOP_K)));
    usOurs.push(microseconds(queries, (query) => layered.search(query, TOP_K)));
  }
  const ratio = median(usOurs) / median(usRaw);
  const recall = recallAt10(layered, exact, queries);
  return {
    what: `search of ${size} vectors / hnswlib-node alone; recall@10`,
    measured: `${shown(ratio)}; ${recall.toFixed(3)}`,
    target: '<= 1.3; >= 0.99',
    isMet: ratio <= 1.3 && recall >= 0.99,
    note: `${shown(median(usOurs))} us against ${shown(median(usRaw))} us, top ${TOP_K}; build ${shown(buildMs / 1_000)} s`,
    figures: { ratio, recall, buildMs },
  };
}

/** The very graph that the service searches, in hnswlib's own object: the difference is what is put around it. */
function sameGraph(ours: HnswIndex): HierarchicalNSW {
  const folder = mkdtempSync(join(tmpdir(), 'agent-reach-graph-'));
  try {
    ours.saveGraphTo(join(folder, 'graph'));
    const raw = new Graph('ip', DIMENSIONS);
    raw.readIndexSync(join(folder, 'graph'));
    raw.setEf(DEFAULT_HNSW.efSearch);
    return raw;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Of one search. */
function microseconds<Query>(queries: readonly Query[], search: (query: Query) => unknown): number {
  const start = performance.now();
  for (const query of queries) search(query);
  return ((performance.now() - start) * 1_000) / queries.length;
}

function recallAt10(index: LayeredIndex, exact: FlatIndex, queries: readonly Float32Array[]): number {
  let found = 0;
  for (const query of queries) {
    const truth = new Set(exact.search(query, 10).map(({ id }) => id));
    found += index.search(query, 10).filter(({ id }) => truth.has(id)).length;
  }
  return found / (10 * queries.length);
}
