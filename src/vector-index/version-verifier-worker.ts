import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, errorText, isAgentReachError } from '../core/index.ts';
import { HnswIndex } from './hnsw-index.ts';
import { checkRecall, unreachableIds } from './self-check.ts';
import { VersionStore } from './version-store.ts';

/**
 * Thread that reads one version from the disk again and tries it as it was tried when it was built; changes nothing.
 * Answers one `done` or `failed`.
 */
export interface VerifyJob {
  readonly dir: string;
  readonly id: string;
}

export interface VerifyProgress {
  readonly phase: 'load' | 'check';
  readonly done: number;
  readonly total: number;
}

export interface VersionFindings {
  /** Null for kind `flat`, which finds everything. */
  readonly recallAt10: number | null;
  readonly samples: number;
  /** Texts that are not found by themselves, at most 100 of them. */
  readonly unreachable: readonly string[];
}

export type VerifyMessage =
  | { readonly type: 'progress'; readonly progress: VerifyProgress }
  | { readonly type: 'done'; readonly findings: VersionFindings }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly detail: string };

const MAX_NAMED = 100;

function tell(message: VerifyMessage): void {
  parentPort?.postMessage(message);
}

async function run({ dir, id }: VerifyJob): Promise<VersionFindings> {
  tell({ type: 'progress', progress: { phase: 'load', done: 0, total: 1 } });
  const { index } = await new VersionStore(dir).load(id);
  tell({ type: 'progress', progress: { phase: 'load', done: 1, total: 1 } });
  if (!(index instanceof HnswIndex)) return { recallAt10: null, samples: 0, unreachable: [] };
  const total = index.size;
  const every = Math.max(1, Math.ceil(total / 100));
  const { recallAt10, samples } = checkRecall(index);
  let done = 0;
  const unreachable = unreachableIds(index, MAX_NAMED, () => {
    if (done++ % every === 0) tell({ type: 'progress', progress: { phase: 'check', done, total } });
  });
  tell({ type: 'progress', progress: { phase: 'check', done: total, total } });
  return { recallAt10, samples, unreachable };
}

try {
  tell({ type: 'done', findings: await run(workerData as VerifyJob) });
} catch (error) {
  const code = isAgentReachError(error) ? error.code : 'AR_ERR_INTERNAL';
  tell({ type: 'failed', code, detail: errorText(error) });
}
