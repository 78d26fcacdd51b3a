import { parentPort, workerData } from 'node:worker_threads';
import { AgentReachError, type ErrorCode, errorText, isAgentReachError, systemClock } from '../core/index.ts';
import { FlatIndex, type VectorRows } from './flat-index.ts';
import { DEFAULT_HNSW, HnswIndex, type HnswOptions } from './hnsw-index.ts';
import { checkRecall, REQUIRED_RECALL } from './self-check.ts';
import type { IndexSelfCheck, IndexVersionInfo } from './vector-index.ts';
import { type VersionDraft, VersionStore } from './version-store.ts';

/**
 * Thread that builds one version, checks it and writes it, then ends. Whatever happens here, versions on disk stay as
 * they were until the last rename. It answers exactly one `done` or `failed`; a thread that ends without crashed.
 *
 * It is asked to stop by a flag and looks at it between inserts and samples, at most a few milliseconds apart. It must
 * never be terminated: that aborts the whole process when it hits the thread inside hnswlib.
 */
export interface BuildJob {
  readonly dir: string;
  readonly keep: number;
  readonly rows: VectorRows;
  readonly kind: IndexVersionInfo['kind'];
  readonly hnsw: Partial<HnswOptions>;
  /** One number in shared memory: not 0 once the build is to stop. A write that has begun is finished. */
  readonly stopFlag: Int32Array<SharedArrayBuffer>;
  readonly about: Pick<IndexVersionInfo, 'modelId' | 'fingerprint' | 'by' | 'why' | 'embedded' | 'reused' | 'removed'>;
}

export interface BuildProgress {
  readonly phase: 'build' | 'check' | 'write';
  readonly done: number;
  readonly total: number;
}

export type BuildMessage =
  | { readonly type: 'progress'; readonly progress: BuildProgress }
  | { readonly type: 'done'; readonly info: IndexVersionInfo }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly detail: string };

/** Wider beams tried when the usual one recalls too little, as it does on large sets of unrelated vectors. */
const BEAM_FACTORS = [1, 2, 4, 8];

function tell(message: BuildMessage): void {
  parentPort?.postMessage(message);
}

function progress(phase: BuildProgress['phase'], done: number, total: number): void {
  tell({ type: 'progress', progress: { phase, done, total } });
}

function checkStop(job: BuildJob): void {
  if (Atomics.load(job.stopFlag, 0) === 0) return;
  throw new AgentReachError('AR_ERR_STOPPING', { detail: 'The index build was stopped.' });
}

function buildGraph(job: BuildJob): HnswIndex {
  const total = job.rows.ids.length;
  const every = Math.max(1, Math.ceil(total / 100));
  progress('build', 0, total);
  return HnswIndex.build(job.rows, job.hnsw, (done) => {
    checkStop(job);
    if (done % every === 0 || done === total) progress('build', done, total);
  });
}

/** The narrowest beam with enough recall. */
function checkedBeam(graph: HnswIndex, job: BuildJob): { efSearch: number; selfCheck: IndexSelfCheck } {
  const first = job.hnsw.efSearch ?? DEFAULT_HNSW.efSearch;
  let best = 0;
  for (const [i, factor] of BEAM_FACTORS.entries()) {
    progress('check', i, BEAM_FACTORS.length);
    const efSearch = Math.min(10_000, first * factor);
    graph.setEfSearch(efSearch);
    const selfCheck = checkRecall(graph, () => checkStop(job));
    if (selfCheck.recallAt10 >= REQUIRED_RECALL) return { efSearch, selfCheck };
    best = Math.max(best, selfCheck.recallAt10);
  }
  const detail = `The new index finds ${(best * 100).toFixed(1)} % of the true neighbours, under 99 %.`;
  throw new AgentReachError('AR_ERR_INDEX_SELF_CHECK', { detail });
}

async function run(job: BuildJob): Promise<IndexVersionInfo> {
  checkStop(job);
  const startedAt = systemClock.now();
  let checked: Pick<IndexVersionInfo, 'efSearch' | 'selfCheck'> = {};
  let graph: HnswIndex | undefined;
  if (job.kind === 'hnsw') {
    graph = buildGraph(job);
    checked = checkedBeam(graph, job);
  } else {
    FlatIndex.fromRows(job.rows);
  }
  checkStop(job);
  progress('write', 0, 1);
  const builtAt = new Date(systemClock.wallNow()).toISOString();
  const info: VersionDraft['info'] = { ...job.about, ...checked, builtAt, buildMs: systemClock.now() - startedAt };
  const draft = { info, rows: job.rows };
  const written = await new VersionStore(job.dir, { keep: job.keep }).write(
    graph === undefined ? draft : { ...draft, graph },
  );
  progress('write', 1, 1);
  return written;
}

try {
  tell({ type: 'done', info: await run(workerData as BuildJob) });
} catch (error) {
  tell({
    type: 'failed',
    code: isAgentReachError(error) ? error.code : 'AR_ERR_INTERNAL',
    detail: errorText(error),
  });
}
