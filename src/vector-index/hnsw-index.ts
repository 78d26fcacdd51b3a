import hnswlib from 'hnswlib-node';
import { AgentReachError, errorText } from '../core/index.ts';
import { FlatIndex, type VectorRows } from './flat-index.ts';
import { NearestList } from './nearest-list.ts';
import { checkTopK, checkVector, refuse } from './vector-checks.ts';
import type { Neighbor, VectorIndex } from './vector-index.ts';

export interface HnswOptions {
  /** Links a node, 2..100. Rising: better recall, slower builds and searches, 8 bytes more a vector each. */
  readonly m: number;
  /** Beam width while inserting, 1 or more. Rising: better recall, slower builds. */
  readonly efConstruction: number;
  /** Beam width while searching, 1 or more; a search uses at least its topK. Rising: better recall, slower searches. */
  readonly efSearch: number;
  /** Sets up to this size are scanned exactly, which is as fast there. 0: always the graph. */
  readonly exactUpTo: number;
}

export const DEFAULT_HNSW: HnswOptions = { m: 16, efConstruction: 200, efSearch: 100, exactUpTo: 256 };

type Graph = InstanceType<typeof hnswlib.HierarchicalNSW>;

const FIRST_CAPACITY = 64;
/** Neighbours asked for beyond topK, so that the order by id of equal ones holds at the end of the list too. */
const TIE_ROOM = 4;
/** Fixed, so that the same rows give the same graph. */
const LEVEL_SEED = 100;

/**
 * The graph of hnswlib over the rows of an exact index. The rows hold the truth (ids, vectors, similarities, checks);
 * the graph only proposes. So nothing that hnswlib cannot bear reaches it: it sees checked plain arrays, labels that
 * are never used again, no filter, and no k beyond what it holds. Where it could propose too little (a small set, more
 * tombstones than live labels, a topK near the size) the rows are scanned instead.
 *
 * An update is a tombstone and a new label, since updating a label in place costs eight inserts. Tombstones keep their
 * memory until the index is empty or built anew.
 */
export class HnswIndex implements VectorIndex {
  readonly dimensions: number;
  readonly #options: HnswOptions;
  readonly #exact: FlatIndex;
  #graph: Graph;
  /** Label -> id, `undefined` under a tombstone. As long as the labels the graph holds. */
  #idOfLabel: (string | undefined)[];
  readonly #labelOf = new Map<string, number>();
  /** hnswlib takes plain arrays only; one for all calls saves 5 us each. */
  readonly #plain: number[];
  /** Labels that the graph does not lead to; ranked beside whatever it proposes. */
  #strays: readonly number[] = [];
  /** Nothing changed since the build: a label is the slot of its row, and no id need be looked up. */
  #isPristine = true;

  private constructor(exact: FlatIndex, graph: Graph, options: HnswOptions) {
    this.dimensions = exact.dimensions;
    this.#exact = exact;
    this.#options = options;
    this.#idOfLabel = [...exact.ids()];
    for (let label = 0; label < this.#idOfLabel.length; label++) {
      this.#labelOf.set(this.#idOfLabel[label] as string, label);
    }
    this.#plain = new Array<number>(exact.dimensions).fill(0);
    this.#graph = graph;
    // Not part of a saved graph, and reset to 10 by every read.
    graph.setEf(options.efSearch);
  }

  static empty(dimensions: number, options: Partial<HnswOptions> = {}): HnswIndex {
    return HnswIndex.build({ dimensions, ids: [], vectors: new Float32Array(0) }, options);
  }

  /**
   * Builds over rows, which it takes over as `FlatIndex.fromRows` does. Inserts in a scattered order: data sorted by
   * cluster and inserted in that order leaves the clusters badly joined. Costs 0.1 to 1 ms a vector.
   */
  static build(
    rows: VectorRows,
    options: Partial<HnswOptions> = {},
    onInsert: (done: number) => void = () => {},
  ): HnswIndex {
    const checked = checkedOptions(options);
    const exact = FlatIndex.fromRows(rows);
    const count = rows.ids.length;
    const index = new HnswIndex(exact, newGraph(rows.dimensions, Math.max(FIRST_CAPACITY, count), checked), checked);
    const stride = scatterStride(count);
    for (let done = 0, label = 0; done < count; done++, label = (label + stride) % count) {
      index.#fillPlain(rows.vectors, label * rows.dimensions);
      index.#graph.addPoint(index.#plain, label);
      onInsert(done + 1);
    }
    return index;
  }

  /**
   * Reads a graph that `saveGraphTo` wrote over these rows. The caller has verified the file by its checksum: hnswlib
   * loads one of another dimension or space without a word. Reading runs outside the calling thread. `areChecked` as
   * in `FlatIndex.fromRows`.
   */
  static async load(
    file: string,
    rows: VectorRows,
    options: Partial<HnswOptions> = {},
    areChecked = false,
  ): Promise<HnswIndex> {
    const checked = checkedOptions(options);
    const exact = FlatIndex.fromRows(rows, areChecked);
    const graph = new hnswlib.HierarchicalNSW('ip', rows.dimensions);
    try {
      await graph.readIndex(file);
    } catch (cause) {
      const detail = `The graph cannot be read: ${errorText(cause)}`;
      throw new AgentReachError('AR_ERR_INDEX_CORRUPT', { detail, cause });
    }
    if (graph.getCurrentCount() !== rows.ids.length) {
      const detail = `The graph holds ${graph.getCurrentCount()} vectors instead of ${rows.ids.length}.`;
      throw new AgentReachError('AR_ERR_INDEX_CORRUPT', { detail });
    }
    return new HnswIndex(exact, graph, checked);
  }

  get size(): number {
    return this.#exact.size;
  }

  has(id: string): boolean {
    return this.#exact.has(id);
  }

  holds(id: string, vector: Float32Array): boolean {
    return this.#exact.holds(id, vector);
  }

  upsert(id: string, vector: Float32Array): void {
    checkVector(vector, this.dimensions);
    if (this.#exact.holds(id, vector)) return;
    const label = this.#idOfLabel.length;
    if (label >= this.#graph.getMaxElements()) this.#graph.resizeIndex(Math.max(FIRST_CAPACITY, label * 2));
    this.#fillPlain(vector, 0);
    this.#isPristine = false;
    this.#graph.addPoint(this.#plain, label);
    // Only now, so that a refused allocation leaves the old vector in place.
    this.#bury(id);
    this.#idOfLabel.push(id);
    this.#labelOf.set(id, label);
    this.#exact.upsert(id, vector);
  }

  remove(id: string): boolean {
    if (!this.#exact.remove(id)) return false;
    this.#isPristine = false;
    this.#bury(id);
    if (this.size === 0) {
      this.#graph = newGraph(this.dimensions, FIRST_CAPACITY, this.#options);
      this.#graph.setEf(this.#options.efSearch);
      this.#idOfLabel = [];
      this.#strays = [];
    }
    return true;
  }

  search(query: Float32Array, topK: number): Neighbor[] {
    checkTopK(topK);
    checkVector(query, this.dimensions);
    const wanted = Math.min(topK, this.size);
    if (this.#scanIsBetter(wanted)) return this.#exact.search(query, topK);
    this.#fillPlain(query, 0);
    const fetched = Math.min(wanted + TIE_ROOM, this.size);
    const { neighbors } = this.#graph.searchKnn(this.#plain, fetched);
    if (neighbors.length < fetched) return this.#exact.search(query, topK);
    // The graph's own distances are float32 sums; these are the similarities that every index answers.
    const found = this.#rank(query, neighbors, neighbors.length);
    // The graph picks any of equal ones. When they may go on beyond what it gave, only the scan knows the first ids.
    const isTieOpen = fetched < this.size && found[wanted - 1]?.similarity === found.at(-1)?.similarity;
    if (isTieOpen) return this.#exact.search(query, topK);
    return (this.#strays.length === 0 ? found : this.#withStrays(query, found)).slice(0, wanted);
  }

  similarityOf(id: string, query: Float32Array): number | undefined {
    return this.#exact.similarityOf(id, query);
  }

  vectorOf(id: string): Float32Array | undefined {
    return this.#exact.vectorOf(id);
  }

  ids(): IterableIterator<string> {
    return this.#exact.ids();
  }

  /** The exact answer to the same question, for self-checks. */
  searchExactly(query: Float32Array, topK: number): Neighbor[] {
    return this.#exact.search(query, topK);
  }

  /**
   * Vectors that no path of the graph leads to: among many that lie equally near to each other, hnswlib prunes the last
   * link to some (7 % of 800 texts that differ in one word). Each search ranks them too, at one product each.
   */
  setStrays(ids: readonly string[]): void {
    this.#strays = ids.map((id) => this.#labelOf.get(id)).filter((label) => label !== undefined);
  }

  /** Of later searches; `build` and `load` take it as an option. */
  setEfSearch(efSearch: number): void {
    this.#graph.setEf(checkedOptions({ efSearch }).efSearch);
  }

  /**
   * Writes the graph alone; rows and ids are the version store's. Blocks; never call it while another thread uses the
   * index. hnswlib reports no failed write at all (missing folder, full disk), so the caller must read the file back.
   */
  saveGraphTo(file: string): void {
    if (this.#idOfLabel.length !== this.size) {
      throw new AgentReachError('AR_ERR_INTERNAL', { detail: 'Only a freshly built graph can be saved.' });
    }
    this.#graph.writeIndexSync(file);
  }

  #rank(query: Float32Array, labels: readonly number[], topK: number): Neighbor[] {
    if (this.#isPristine) return this.#exact.rankSlots(query, labels, topK);
    const ids = labels.map((label) => this.#idOfLabel[label]).filter((id) => id !== undefined);
    return this.#exact.rank(query, ids, topK);
  }

  /** A stray may be among the found ones all the same: the graph leads to it from elsewhere. */
  #withStrays(query: Float32Array, found: readonly Neighbor[]): Neighbor[] {
    const ids = new Set(found.map(({ id }) => id));
    const nearest = new NearestList(found.length);
    for (const { id, similarity } of found) nearest.offer(id, similarity);
    for (const { id, similarity } of this.#rank(query, this.#strays, found.length)) {
      if (similarity < nearest.floor) break;
      if (!ids.has(id)) nearest.offer(id, similarity);
    }
    return nearest.take();
  }

  #scanIsBetter(wanted: number): boolean {
    const { size } = this;
    const tombstones = this.#idOfLabel.length - size;
    return size <= this.#options.exactUpTo || tombstones > size || wanted * 4 > size;
  }

  #bury(id: string): void {
    const label = this.#labelOf.get(id);
    if (label === undefined) return;
    this.#graph.markDelete(label);
    this.#idOfLabel[label] = undefined;
    this.#labelOf.delete(id);
  }

  #fillPlain(source: Float32Array, start: number): void {
    const plain = this.#plain;
    for (let i = 0; i < plain.length; i++) plain[i] = source[start + i] as number;
  }
}

function newGraph(dimensions: number, capacity: number, options: HnswOptions): Graph {
  const graph = new hnswlib.HierarchicalNSW('ip', dimensions);
  graph.initIndex(capacity, options.m, options.efConstruction, LEVEL_SEED);
  return graph;
}

function checkedOptions(given: Partial<HnswOptions>): HnswOptions {
  const options = { ...DEFAULT_HNSW, ...given };
  const inRange = (value: number, least: number, most: number): boolean =>
    Number.isInteger(value) && value >= least && value <= most;
  if (!inRange(options.m, 2, 100)) refuse('hnsw.m must be a whole number from 2 to 100.');
  if (!inRange(options.efConstruction, 1, 10_000))
    refuse('hnsw.efConstruction must be a whole number from 1 to 10000.');
  if (!inRange(options.efSearch, 1, 10_000)) refuse('hnsw.efSearch must be a whole number from 1 to 10000.');
  if (!inRange(options.exactUpTo, 0, 1_000_000)) refuse('hnsw.exactUpTo must be a whole number from 0 to 1000000.');
  return options;
}

/** A step that visits every label once: coprime to `count`, near the golden section so that neighbours fall apart. */
function scatterStride(count: number): number {
  let stride = Math.max(1, Math.round(count * 0.618));
  while (greatestCommonDivisor(stride, count) !== 1) stride++;
  return stride;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
