import { parentPort, workerData } from 'node:worker_threads';
import {
  AgentReachError,
  type ErrorCode,
  type ErrorIssue,
  errorText,
  isAgentReachError,
  systemClock,
} from '../core/index.ts';
import { FlatIndex, type VectorRows } from './flat-index.ts';
import { DEFAULT_HNSW, HnswIndex, type HnswOptions } from './hnsw-index.ts';
import { checkRecall, REQUIRED_RECALL, unreachableIds } from './self-check.ts';
import type { IndexSelfCheck, IndexVersionInfo } from './vector-index.ts';
import { type StagedVersion, type StagingStep, type VersionDraft, VersionStore } from './version-store.ts';

/**
 * Thread that builds one version, checks it and writes it to a temporary folder, then ends. Versions on disk stay as
 * they were. It answers exactly one `done` or `failed`; a thread that ends without crashed.
 *
 * It is asked to stop by a flag and looks at it between inserts and samples, at most a few milliseconds apart. It must
 * never be terminated: that aborts the whole process when it hits the thread inside hnswlib.
 */
export interface BuildJob {
  readonly dir: string;
  readonly id: string | undefined;
  readonly rows: VectorRows;
  readonly catalogue: Uint8Array | undefined;
  readonly heads: Uint8Array | undefined;
  readonly kind: IndexVersionInfo['kind'];
  readonly hnsw: Partial<HnswOptions>;
  /** One number in shared memory: not 0 once the build is to stop. A write that has begun is finished. */
  readonly stopFlag: Int32Array<SharedArrayBuffer>;
  /** Steps that the main thread has taken note of; each step waits for that. */
  readonly notedSteps: Int32Array<SharedArrayBuffer>;
  readonly about: Pick<
    IndexVersionInfo,
    'modelId' | 'fingerprint' | 'by' | 'why' | 'embedded' | 'reused' | 'removed' | 'catalogueDigest'
  >;
}

export interface BuildProgress {
  readonly phase: 'build' | 'check' | 'write';
  readonly done: number;
  readonly total: number;
}

export type BuildMessage =
  | { readonly type: 'progress'; readonly progress: BuildProgress }
  | { readonly type: 'step'; readonly step: BuildStep }
  | { readonly type: 'done'; readonly staged: StagedVersion }
  | {
      readonly type: 'failed';
      readonly code: ErrorCode;
      readonly detail: string;
      readonly issues: readonly ErrorIssue[];
    };

export type BuildStep = 'build_started' | 'graph_built' | StagingStep;

/** Wider beams tried when the usual one recalls too little, as it does on large sets of unrelated vectors. */
const BEAM_FACTORS = [1, 2, 4, 8];
/** Texts that a failed check names. */
const MAX_NAMED = 10;
/** More that the graph does not lead to, of all, and the next beam is tried: each costs every search a product. */
const MAX_STRAY_SHARE = 0.15;

function tell(message: BuildMessage): void {
  parentPort?.postMessage(message);
}

function progress(phase: BuildProgress['phase'], done: number, total: number): void {
  tell({ type: 'progress', progress: { phase, done, total } });
}

const MAX_STEP_WAIT_MS = 1_000;
let steps = 0;

/** Waits until the main thread has published the step, so that what is published has happened, and nothing after it. */
function step(job: BuildJob, name: BuildStep): void {
  tell({ type: 'step', step: name });
  Atomics.wait(job.notedSteps, 0, steps++, MAX_STEP_WAIT_MS);
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
function checkedBeam(
  graph: HnswIndex,
  job: BuildJob,
): { efSearch: number; selfCheck: IndexSelfCheck; strays?: readonly string[] } {
  const first = job.hnsw.efSearch ?? DEFAULT_HNSW.efSearch;
  let best = 0;
  let lost: string[] = [];
  for (const [i, factor] of BEAM_FACTORS.entries()) {
    progress('check', i, BEAM_FACTORS.length);
    const efSearch = Math.min(10_000, first * factor);
    graph.setEfSearch(efSearch);
    const selfCheck = checkRecall(graph, () => checkStop(job));
    best = Math.max(best, selfCheck.recallAt10);
    if (selfCheck.recallAt10 < REQUIRED_RECALL) continue;
    const strays = unreachableIds(graph, Math.floor(graph.size * MAX_STRAY_SHARE) + 1, () => checkStop(job));
    if (strays.length <= graph.size * MAX_STRAY_SHARE) {
      graph.setStrays(strays);
      // All others were found without the strays; ranking those too can only find something nearer.
      lost = strays.length === 0 ? [] : unreachableIds(graph, MAX_NAMED, () => checkStop(job), strays);
      const found = { efSearch, selfCheck: { ...selfCheck, reachableShare: 1 } };
      if (lost.length === 0) return strays.length === 0 ? found : { ...found, strays };
      graph.setStrays([]);
    } else lost = strays.slice(0, MAX_NAMED);
  }
  if (lost.length > 0) {
    throw new AgentReachError('AR_ERR_INDEX_SELF_CHECK', {
      detail: 'The new index does not find some of its own texts.',
      issues: lost.map((id) => ({ path: `unreachable.${id}`, message: 'is not found when it is asked for itself' })),
    });
  }
  const detail = `The new index finds ${(best * 100).toFixed(1)} % of the true neighbours, under 99 %.`;
  const message = `recall@10 is ${best.toFixed(4)}, 0.99 is needed`;
  throw new AgentReachError('AR_ERR_INDEX_SELF_CHECK', { detail, issues: [{ path: 'recall', message }] });
}

async function run(job: BuildJob): Promise<StagedVersion> {
  checkStop(job);
  step(job, 'build_started');
  const startedAt = systemClock.now();
  let checked: Pick<IndexVersionInfo, 'efSearch' | 'selfCheck' | 'strays'> = {};
  let graph: HnswIndex | undefined;
  if (job.kind === 'hnsw') {
    graph = buildGraph(job);
    step(job, 'graph_built');
    checked = checkedBeam(graph, job);
  } else {
    FlatIndex.fromRows(job.rows);
  }
  checkStop(job);
  progress('write', 0, 1);
  const builtAt = new Date(systemClock.wallNow()).toISOString();
  const info: VersionDraft['info'] = { ...job.about, ...checked, builtAt, buildMs: systemClock.now() - startedAt };
  const draft: VersionDraft = { id: job.id, info, rows: job.rows, catalogue: job.catalogue, heads: job.heads };
  const staged = await new VersionStore(job.dir).stage(graph === undefined ? draft : { ...draft, graph }, (name) =>
    step(job, name),
  );
  progress('write', 1, 1);
  return staged;
}

try {
  tell({ type: 'done', staged: await run(workerData as BuildJob) });
} catch (error) {
  tell({
    type: 'failed',
    code: isAgentReachError(error) ? error.code : 'AR_ERR_INTERNAL',
    detail: errorText(error),
    issues: isAgentReachError(error) ? error.issues : [],
  });
}
