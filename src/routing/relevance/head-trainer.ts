/** Trains heads in worker threads, one thread a head. A stop ends the threads; their promises then reject. */
import type { Worker } from 'node:worker_threads';
import { AgentReachError, nextTurn, spawnWorker } from '../../core/index.ts';
import type { TrainedHead } from './phrase-learning.ts';
import { partsOf, type TrainingTask } from './training-parts.ts';

export class HeadTrainer {
  readonly #workers = new Set<Worker>();

  /** Errors: AR_ERR_INTERNAL when the thread fails or is stopped, AR_ERR_STOPPING when the signal stops it. */
  train(task: TrainingTask, signal?: AbortSignal): Promise<TrainedHead> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(new AgentReachError('AR_ERR_STOPPING'));
      const worker = spawnWorker('./phrase-head-worker', import.meta.url);
      this.#workers.add(worker);
      const abort = (): void => {
        reject(new AgentReachError('AR_ERR_STOPPING', { detail: 'The training of a phrase head was stopped.' }));
        void worker.terminate();
      };
      signal?.addEventListener('abort', abort, { once: true });
      const fail = (cause: unknown): void => {
        reject(new AgentReachError('AR_ERR_INTERNAL', { detail: 'A phrase head could not be trained.', cause }));
      };
      worker.once('message', resolve);
      worker.once('error', fail);
      worker.once('exit', (code) => {
        this.#workers.delete(worker);
        signal?.removeEventListener('abort', abort);
        // After a message this changes nothing: the promise is settled.
        fail(new Error(`the thread ended with code ${code}`));
      });
      this.#send(task, worker).catch(fail);
    });
  }

  /** Between turns of the event loop; ends early with the thread. */
  async #send(task: TrainingTask, worker: Worker): Promise<void> {
    for (const part of partsOf(task)) {
      if (!this.#workers.has(worker)) return;
      worker.postMessage(part, 'rows' in part ? [part.rows.buffer] : []);
      await nextTurn();
    }
  }

  stop(): void {
    for (const worker of this.#workers) void worker.terminate();
  }
}
