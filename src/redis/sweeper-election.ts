/**
 * One instance at a time watches the leases. It holds a key that lapses by itself and renews it; each new holder gets
 * a higher fence, under which alone Redis takes the end of a lease. Whoever was not able to renew in time stops by its
 * own clock no later than the key lapses: the term counts from before it was asked for.
 */
import type { CancelTimer } from '../core/index.ts';
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-script.ts';
import { ELECT, RESIGN } from './redis-scripts.ts';

const DEFAULT_TERM_MS = 3_000;
const RENEWALS_A_TERM = 3;

export interface SweeperElectionParts {
  readonly link: RedisLink;
  /** How long nobody sweeps after a sweeper was killed. Default 3 s. */
  readonly termMs?: number;
  /** The fence of this instance while it is the sweeper, null from when on it is not. */
  readonly onChange: (fence: string | null) => void;
}

export class SweeperElection {
  readonly #parts: SweeperElectionParts;
  readonly #termMs: number;
  #fence: string | null = null;
  #cancel: CancelTimer = () => undefined;
  #cancelEnd: CancelTimer = () => undefined;
  #isStopped = false;

  constructor(parts: SweeperElectionParts) {
    this.#parts = parts;
    this.#termMs = parts.termMs ?? DEFAULT_TERM_MS;
  }

  /** Resolves after the first attempt. */
  start(): Promise<void> {
    return this.#stand();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    this.#hold(null, 0);
    const { keys, instance } = this.#parts.link;
    // Left to lapse where Redis cannot be told.
    await runScript(this.#parts.link, RESIGN, [keys.sweeper], [instance]).catch(() => undefined);
  }

  async #stand(): Promise<void> {
    const { keys, clock, instance } = this.#parts.link;
    const askedAt = clock.now();
    this.#cancel = clock.schedule(this.#termMs / RENEWALS_A_TERM, () => void this.#stand());
    try {
      const names = [keys.sweeper, keys.fence];
      const fence = Number(await runScript(this.#parts.link, ELECT, names, [instance, this.#termMs]));
      if (this.#isStopped) return;
      this.#hold(fence === 0 ? null : String(fence), askedAt + this.#termMs - clock.now());
    } catch {
      // Redis is away, or holds other data; the term ends by itself.
    }
  }

  /** Nothing, where the answer took longer than the term. */
  #hold(fence: string | null, forMs: number): void {
    this.#cancelEnd();
    const isHeld = fence !== null && forMs > 0;
    if (isHeld) this.#cancelEnd = this.#parts.link.clock.schedule(forMs, () => this.#become(null));
    this.#become(isHeld ? fence : null);
  }

  #become(fence: string | null): void {
    if (fence === this.#fence) return;
    this.#fence = fence;
    this.#parts.onChange(fence);
  }
}
