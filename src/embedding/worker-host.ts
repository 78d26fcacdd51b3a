import type { ChildProcess } from 'node:child_process';
import { AgentReachError, backoffMs, type CancelTimer, type Clock, errorText, log } from '../core/index.ts';
import type { EmbedderHealth } from './embedder.ts';
import type { RunRequest, WorkerAnswer } from './worker-messages.ts';

/**
 * Owns the embedding process: loads it, gives it one run at a time, and replaces it when it fails to load, crashes or
 * hangs (outlives its limit). Nothing here ever throws into the event loop.
 *
 *   idle -> loading -> ready -+-> stopped (from anywhere)
 *              ^  |       |   |
 *              |  v       v   |
 *              +-- broken <---+   after the back-off: loading again
 *
 * A process, not a thread, since onnxruntime-node 1.14 takes the service down with its thread: terminating a thread
 * in the middle of a run aborts the process ("terminate called after throwing Napi::Error"), and a second thread
 * that loads the addon corrupts the handles of the first ("Check failed: node->IsInUse()"). Twelve restarts in a row
 * ended in one of the two nearly every time. A process can be killed at any moment; the message costs 0.1 ms more.
 */
export interface WorkerHostOptions {
  readonly spawn: () => ChildProcess;
  readonly clock: Clock;
  readonly loadTimeoutMs: number;
  readonly runTimeoutMs: number;
  readonly restartBaseMs: number;
  readonly restartCapMs: number;
  readonly onHealth: (health: EmbedderHealth) => void;
}

interface Run {
  readonly runId: number;
  readonly resolve: (vectors: Float32Array) => void;
  readonly reject: (error: unknown) => void;
  readonly cancelWatch: CancelTimer;
}

interface ReadyState {
  readonly value: 'ready';
  readonly worker: ChildProcess;
  readonly readyAt: number;
  run: Run | null;
  refusals: number;
}

type HostState =
  | { readonly value: 'idle' }
  | { readonly value: 'loading'; readonly worker: ChildProcess; readonly cancelWatch: CancelTimer }
  | ReadyState
  | { readonly value: 'broken'; readonly cancelRetry: CancelTimer }
  | { readonly value: 'stopped' };

/** Runs refused in a row after which the process itself is taken for broken. */
const MAX_REFUSALS = 3;

export class WorkerHost {
  readonly #options: WorkerHostOptions;
  #state: HostState = { value: 'idle' };
  #health: EmbedderHealth = { state: 'starting' };
  #failures = 0;
  #runCount = 0;
  #firstAttempt: Promise<void> | undefined;
  #endFirstAttempt: () => void = () => {};

  constructor(options: WorkerHostOptions) {
    this.#options = options;
  }

  get health(): EmbedderHealth {
    return this.#health;
  }

  get isFree(): boolean {
    return this.#state.value === 'ready' && this.#state.run === null;
  }

  /** Resolves when the first attempt to load has ended, well or badly. */
  start(): Promise<void> {
    if (this.#firstAttempt === undefined) {
      this.#firstAttempt = new Promise((resolve) => {
        this.#endFirstAttempt = resolve;
      });
      if (this.#state.value === 'idle') this.#launch();
      else this.#endFirstAttempt();
    }
    return this.#firstAttempt;
  }

  /** Only while `isFree`. Rejects with AR_ERR_MODEL_UNUSABLE when the process refuses, crashes or hangs. */
  run(texts: readonly string[]): Promise<Float32Array> {
    const state = this.#state;
    if (state.value !== 'ready' || state.run !== null) return Promise.reject(unusable('the model is not free'));
    const { worker } = state;
    const request: RunRequest = { runId: ++this.#runCount, texts };
    return new Promise((resolve, reject) => {
      const cancelWatch = this.#watch(this.#options.runTimeoutMs, () =>
        this.#fail(worker, `a run took longer than ${this.#options.runTimeoutMs} ms`),
      );
      state.run = { runId: request.runId, resolve, reject, cancelWatch };
      worker.ref();
      worker.channel?.ref();
      worker.send(request, (error) => {
        if (error !== null) this.#fail(worker, `the embedding process cannot be reached: ${error.message}`);
      });
    });
  }

  /** Ends the process at once; a run that is still on is rejected. Resolves when it is gone, or after `waitMs`. */
  async stop(waitMs: number): Promise<void> {
    const state = this.#state;
    this.#state = { value: 'stopped' };
    this.#health = { state: 'stopped' };
    this.#endFirstAttempt();
    if (state.value === 'broken') state.cancelRetry();
    if (state.value !== 'loading' && state.value !== 'ready') return;
    this.#disarm(state, new AgentReachError('AR_ERR_STOPPING'));
    const { worker } = state;
    if (worker.exitCode !== null || worker.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.schedule(waitMs, resolve);
      worker.once('exit', () => {
        cancel();
        resolve();
      });
      worker.ref();
      worker.kill('SIGKILL');
    });
  }

  #launch(): void {
    const { loadTimeoutMs, spawn } = this.#options;
    let worker: ChildProcess;
    try {
      worker = spawn();
    } catch (error) {
      // A machine out of processes or memory; later there may be some.
      this.#breakDown(`the embedding process cannot be started: ${errorText(error)}`, 0);
      return;
    }
    const cancelWatch = this.#watch(loadTimeoutMs, () =>
      this.#fail(worker, `the model took longer than ${loadTimeoutMs} ms to load`),
    );
    this.#state = { value: 'loading', worker, cancelWatch };
    worker.on('message', (answer: WorkerAnswer) => this.#onAnswer(worker, answer));
    worker.on('error', (error) => this.#fail(worker, `the embedding process failed: ${errorText(error)}`));
    worker.on('exit', (code, signal) =>
      this.#fail(worker, `the embedding process ended with ${signal ?? `code ${code}`}`),
    );
    // The channel closes a moment before the exit that says why; without an exit of its own it gets one.
    worker.on('disconnect', () => worker.kill('SIGKILL'));
  }

  #onAnswer(worker: ChildProcess, answer: WorkerAnswer): void {
    const state = this.#state;
    if ((state.value !== 'loading' && state.value !== 'ready') || state.worker !== worker) return;
    if (answer.kind === 'failed') this.#fail(worker, answer.reason);
    else if (answer.kind === 'ready') this.#onReady(state, answer.stagesMs);
    else if (state.value === 'ready') this.#onRunEnd(state, answer);
  }

  #onRunEnd(state: ReadyState, answer: Extract<WorkerAnswer, { readonly runId: number }>): void {
    if (state.run?.runId !== answer.runId) return;
    const { run } = state;
    state.run = null;
    run.cancelWatch();
    release(state.worker);
    if (answer.kind === 'vectors') {
      state.refusals = 0;
      run.resolve(answer.vectors);
      return;
    }
    state.refusals += 1;
    if (state.refusals >= MAX_REFUSALS) this.#fail(state.worker, answer.reason);
    run.reject(unusable(answer.reason));
  }

  #onReady(state: HostState, stagesMs: Readonly<Record<string, number>>): void {
    if (state.value !== 'loading') return;
    state.cancelWatch();
    release(state.worker);
    this.#state = {
      value: 'ready',
      worker: state.worker,
      readyAt: this.#options.clock.now(),
      run: null,
      refusals: 0,
    };
    log('info', 'the embedding model is loaded', { stagesMs });
    this.#setHealth({ state: 'ready' });
    this.#endFirstAttempt();
  }

  #fail(worker: ChildProcess, reason: string): void {
    const state = this.#state;
    if ((state.value !== 'loading' && state.value !== 'ready') || state.worker !== worker) return;
    this.#breakDown(reason, state.value === 'ready' ? this.#options.clock.now() - state.readyAt : 0);
    this.#disarm(state, unusable(reason));
    worker.kill('SIGKILL');
  }

  /** A process that served for a while starts the count of failures anew; one that dies at its first run does not. */
  #breakDown(reason: string, servedMs: number): void {
    const { clock, restartBaseMs, restartCapMs } = this.#options;
    this.#failures = servedMs >= restartCapMs ? 1 : this.#failures + 1;
    const delayMs = backoffMs(this.#failures, { baseMs: restartBaseMs, capMs: restartCapMs });
    this.#state = { value: 'broken', cancelRetry: clock.schedule(delayMs, () => this.#launch()) };
    this.#setHealth({ state: 'degraded', reason, retryAt: clock.now() + delayMs });
    this.#endFirstAttempt();
  }

  #disarm(state: HostState & { readonly worker: ChildProcess }, error: AgentReachError): void {
    if (state.value === 'loading') state.cancelWatch();
    if (state.value !== 'ready' || state.run === null) return;
    state.run.cancelWatch();
    state.run.reject(error);
    state.run = null;
  }

  /**
   * Calls `onLate` after `limitMs`, counted in two halves: a stall of our own loop makes one half late but leaves the
   * process the other one to be heard in.
   */
  #watch(limitMs: number, onLate: () => void): CancelTimer {
    const { clock } = this.#options;
    let cancel = clock.schedule(limitMs / 2, () => {
      cancel = clock.schedule(limitMs / 2, onLate);
    });
    return () => cancel();
  }

  #setHealth(health: EmbedderHealth): void {
    this.#health = health;
    this.#options.onHealth(health);
  }
}

/** A process without work never keeps ours alive. */
function release(worker: ChildProcess): void {
  worker.unref();
  worker.channel?.unref();
}

export function unusable(reason: string): AgentReachError {
  return new AgentReachError('AR_ERR_MODEL_UNUSABLE', { detail: `The embedding model cannot be used: ${reason}.` });
}
