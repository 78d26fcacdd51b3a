import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../core/index.ts';
import { SentenceEncoder } from './sentence-encoder.ts';
import type { RunRequest, WorkerAnswer, WorkerSettings } from './worker-messages.ts';

/** Entry of the embedding thread: says `ready` or `failed`, then answers runs one by one until it is terminated. */
const port = parentPort;
if (port === null) throw new Error('embedding-worker runs in a worker thread only');

const say = (answer: WorkerAnswer, transfer: ArrayBuffer[] = []): void => port.postMessage(answer, transfer);

async function answerRun(encoder: SentenceEncoder, { runId, texts }: RunRequest): Promise<void> {
  try {
    const vectors = await encoder.encode(texts);
    say({ kind: 'vectors', runId, vectors }, [vectors.buffer as ArrayBuffer]);
  } catch (error) {
    say({ kind: 'refused', runId, reason: errorText(error) });
  }
}

try {
  const { encoder, stagesMs } = await SentenceEncoder.load(workerData as WorkerSettings);
  let last = Promise.resolve();
  port.on('message', (request: RunRequest) => {
    last = last.then(() => answerRun(encoder, request));
  });
  say({ kind: 'ready', stagesMs });
} catch (error) {
  say({ kind: 'failed', reason: errorText(error) });
}
