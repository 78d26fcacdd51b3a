/**
 * Whether Redis takes writes. After one that failed another is tried every second until one is taken: an instance
 * whose agents only beat has nothing to store for hours, and would not hear that Redis is well again.
 */
import { type CancelTimer, errorText } from '../core/index.ts';
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-script.ts';
import { REWRITE } from './redis-scripts.ts';

const RETRY_MS = 1_000;

export class WriteWatch {
  readonly #link: RedisLink;
  #problem: string | null = null;
  #troubledAt = Number.NEGATIVE_INFINITY;
  #cancel: CancelTimer | undefined;
  #isStopped = false;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Why the last write failed; null once one was taken since. */
  get problem(): string | null {
    return this.#problem;
  }

  /** When a write last may have failed: now, where one still may. */
  get troubledAt(): number {
    return this.#problem === null ? this.#troubledAt : this.#link.clock.now();
  }

  failed(reason: string): void {
    if (this.#isStopped) return;
    this.#problem = reason;
    this.#cancel ??= this.#link.clock.schedule(RETRY_MS, () => void this.#try());
  }

  taken(): void {
    this.#troubledAt = this.troubledAt;
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
