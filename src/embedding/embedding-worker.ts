import { errorText } from '../core/index.ts';
import { SentenceEncoder } from './sentence-encoder.ts';
import type { RunRequest, WorkerAnswer, WorkerSettings } from './worker-messages.ts';

/**
 * Entry of the embedding process: says `ready` or `failed`, then answers runs one by one until it is killed. It holds
 * no state worth saving, so that killing it is always right.
 */
const say = (answer: WorkerAnswer): void => {
  process.send?.(answer);
};

// Ctrl-C reaches the whole process group, but queued texts are still wanted: our parent says when it is over.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('SIGHUP', () => {});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function answerRun(encoder: SentenceEncoder, { runId, texts }: RunRequest): Promise<void> {
  try {
    say({ kind: 'vectors', runId, vectors: await encoder.encode(texts) });
  } catch (error) {
    say({ kind: 'refused', runId, reason: errorText(error) });
  }
}

try {
  const { encoder, stagesMs } = await SentenceEncoder.load(JSON.parse(process.argv[2] ?? '') as WorkerSettings);
  let last = Promise.resolve();
  process.on('message', (request: RunRequest) => {
    last = last.then(() => answerRun(encoder, request));
  });
  say({ kind: 'ready', stagesMs });
} catch (error) {
  say({ kind: 'failed', reason: errorText(error) });
}
