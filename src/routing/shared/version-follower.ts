import { AgentReachError, backoffMs, type CancelTimer, type Clock, publish } from '../../core/index.ts';
import type { IndexHolder } from '../index-hold.ts';
import type { IndexRebuilder } from '../index-rebuilder.ts';
import { type SwapParts, swapTo } from '../version-swap.ts';
import type { SharedVersions } from './shared-versions.ts';
import type { VersionMaker } from './version-maker.ts';

export interface VersionFollowerOptions extends SwapParts {
  readonly clock: Clock;
  readonly shared: SharedVersions;
  readonly maker: VersionMaker;
  readonly rebuilder: IndexRebuilder;
  readonly holder: IndexHolder;
}

const RETRY = { baseMs: 1_000, capMs: 60_000 };

/**
 * Does here what the manifest says: the version that another instance built, or went back to, serves here too. What
 * cannot be done is told, the version before serves on, and it is tried again.
 */
export class VersionFollower {
  readonly #options: VersionFollowerOptions;
  #running: Promise<void> | undefined;
  #cancelRetry: CancelTimer | undefined;
  #attempt: { readonly version: string; readonly ending: AbortController } | undefined;
  #failures = 0;
  readonly #stopping = new AbortController();

  constructor(options: VersionFollowerOptions) {
    this.#options = options;
    options.shared.onChange(() => this.#wake());
  }

  /** What it waits for, a rebuild or a rollback, is whoever calls this to stop. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelRetry?.();
    await this.#running;
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #wake(): void {
    if (this.#isStopped) return;
    const { version, ending } = this.#attempt ?? {};
    if (version !== this.#options.shared.current?.info.id) ending?.abort();
    this.#cancelRetry?.();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    const { shared, rebuilder, clock } = this.#options;
    while (!shared.isServed && !this.#isStopped) {
      const wanted = shared.current?.info.id;
      try {
        await rebuilder.runAlone(() => this.#reach());
        this.#failures = 0;
      } catch (error) {
        if (this.#isStopped) return;
        if (wanted !== shared.current?.info.id) continue;
        this.#failures++;
        rebuilder.noteFailure(error, 'shared');
        shared.noteFailure(error);
        this.#retryIn(backoffMs(this.#failures, RETRY, Math.random()), clock);
        return;
      }
    }
  }

  /** What is built here meanwhile ends the wait one way or the other. */
  #retryIn(delayMs: number, clock: Clock): void {
    this.#cancelRetry = clock.schedule(delayMs, () => {
      if (this.#options.rebuilder.isBuilding) this.#retryIn(RETRY.baseMs, clock);
      else this.#wake();
    });
  }

  async #reach(): Promise<void> {
    const { shared, maker, vectors, holder, rebuilder, clock } = this.#options;
    const { current } = shared;
    if (shared.isServed || this.#isStopped) return;
    if (current === undefined) {
      throw new AgentReachError('AR_ERR_INDEX_CORRUPT', { detail: 'The version that all serve is not in the store.' });
    }
    const startedAt = clock.now();
    const ending = new AbortController();
    this.#attempt = { version: current.info.id, ending };
    try {
      const signal = AbortSignal.any([ending.signal, this.#stopping.signal]);
      const whole = await maker.whole(current.info.id, signal);
      await vectors.compareWith(whole.loaded);
      // Meanwhile another one may have become that of all.
      if (this.#isStopped || shared.current?.info.id !== current.info.id) return;
      const { hold, fence } = shared;
      holder.follow(hold);
      swapTo(this.#options, whole, hold);
      shared.noteServed(fence);
      const durationMs = clock.now() - startedAt;
      rebuilder.noteSuccess(Math.max(durationMs, current.info.buildMs));
      const { id: version, count, embedded, reused, selfCheck } = whole.loaded.info;
      const { golden } = selfCheck ?? {};
      if (golden !== undefined) publish('index.golden', { right: golden.right, wrong: golden.lines - golden.right });
      publish('index.version', {
        ...{ version, count, why: hold === null ? 'shared' : 'rollback' },
        ...{ embedded, reused, durationMs },
      });
    } finally {
      this.#attempt = undefined;
    }
  }
}
