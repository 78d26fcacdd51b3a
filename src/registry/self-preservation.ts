/**
 * When many leases run out together, the fault is more likely ours or the network's than theirs: then nobody is taken
 * out, for a quarter of an hour at most, and every answer says so. Counted are the leases that end within their next
 * interval: of a network that broke, the last beats lie spread over one.
 */
import { type Clock, log } from '../core/index.ts';

const LEAST_LEASES = 10;
const MOST_SHARE = 0.15;
const REVIEW_MS = 5_000;
/** A census costs a look at every agent: one serves all leases that end in this time. */
const CENSUS_MS = 250;

export interface LeaseCensus {
  readonly leases: number;
  /** Run out, or about to. */
  readonly ending: number;
}

export interface SelfPreservationParts {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly census: () => LeaseCensus;
  /** The flag changed; after `false` whoever was kept is to be let go. */
  readonly onChange: (isOn: boolean) => void;
}

export class SelfPreservation {
  readonly #parts: SelfPreservationParts;
  #since: number | undefined;
  #counted: { readonly at: number; readonly isTooMany: boolean } | undefined;
  #cancelReview: (() => void) | undefined;

  constructor(parts: SelfPreservationParts) {
    this.#parts = parts;
  }

  /** Whether an agent whose lease ran out is kept all the same. */
  keeps(): boolean {
    if (this.#since !== undefined) return true;
    if (this.#parts.limitMs === 0 || !this.#isTooMany()) return false;
    this.#since = this.#parts.clock.now();
    log('warn', 'too many leases ran out together: nobody is evicted', { ...this.#parts.census() });
    this.#parts.onChange(true);
    this.#review();
    return true;
  }

  stop(): void {
    this.#cancelReview?.();
    this.#since = undefined;
    this.#counted = undefined;
  }

  #review(): void {
    const { clock, limitMs } = this.#parts;
    const leftMs = (this.#since ?? 0) + limitMs - clock.now();
    this.#cancelReview = clock.schedule(Math.max(0, Math.min(REVIEW_MS, leftMs)), () => {
      if (this.#since === undefined) return;
      const isTimeOver = clock.now() >= this.#since + limitMs;
      if (!isTimeOver && this.#isTooMany()) return this.#review();
      this.#since = undefined;
      // Of the agents let go now, none may be counted for the next time.
      this.#counted = undefined;
      log('warn', isTimeOver ? 'eviction goes on: the time for sparing is over' : 'eviction goes on: beats are back');
      this.#parts.onChange(false);
    });
  }

  #isTooMany(): boolean {
    const { clock, census } = this.#parts;
    const at = clock.now();
    if (this.#counted === undefined || at < this.#counted.at || at - this.#counted.at > CENSUS_MS) {
      const { leases, ending } = census();
      this.#counted = { at, isTooMany: leases >= LEAST_LEASES && ending > MOST_SHARE * leases };
    }
    return this.#counted.isTooMany;
  }
}
