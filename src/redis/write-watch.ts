/**
 * Whether Redis takes writes. After one that failed another is tried every second until one is taken: an instance
 * whose agents only beat has nothing to store for hours, and would not hear that Redis is well again.
 */
import { type CancelTimer, errorText } from '../core/index.ts';
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-script.ts';
import { REWRITE } from './redis-scripts.ts';
import { Trouble } from './trouble.ts';

const RETRY_MS = 1_000;

export class WriteWatch {
  readonly #link: RedisLink;
  #problem: string | null = null;
  readonly #trouble = new Trouble();
  #cancel: CancelTimer | undefined;
  #isStopped = false;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Why the last write failed; null once one was taken since. */
  get problem(): string | null {
    return this.#problem;
  }

  /** See `Trouble`. */
  deafUntil(graceMs: number): number {
    return this.#trouble.deafUntil(this.#link.clock.now(), graceMs);
  }

  failed(reason: string): void {
    if (this.#isStopped) return;
    this.#trouble.begin(this.#link.clock.now());
    this.#problem = reason;
    this.#cancel ??= this.#link.clock.schedule(RETRY_MS, () => void this.#try());
  }

  taken(): void {
    this.#trouble.end(this.#link.clock.now());
    this.#problem = null;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  async #try(): Promise<void> {
    this.#cancel = undefined;
    try {
      await runScript(this.#link, REWRITE, [this.#link.keys.position], []);
      this.taken();
    } catch (error) {
      this.failed(errorText(error));
    }
  }
}
