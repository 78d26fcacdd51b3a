/** What may end a call before its answer is whole: its deadline, too long a silence, its caller. */
import type { CancelTimer, Clock } from '../core/index.ts';

export interface Limits {
  /** For the whole call; 0: none. */
  readonly timeoutMs: number;
  /** For each wait for the next piece; none where it is left out. */
  readonly silenceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class CallLimits {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #silenceMs: number | undefined;
  readonly #stop = new AbortController();
  readonly #cancelDeadline: CancelTimer | undefined;
  #cancelSilence: CancelTimer | undefined;
  #reached: string | undefined;

  constructor(clock: Clock, { timeoutMs, silenceMs, signal }: Limits) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.signal = signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, signal]);
    if (timeoutMs > 0) this.#cancelDeadline = this.#after(timeoutMs, `was not answered within ${timeoutMs} ms`);
    this.#listen();
  }

  /** Which limit of time ended the call, as the end of a sentence. */
  get reached(): string | undefined {
    return this.#reached;
  }

  /** Hands the pieces through, each of which ends a silence. */
  async *heard(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    for await (const piece of pieces) {
      this.#listen();
      yield piece;
    }
  }

  release(): void {
    this.#cancelDeadline?.();
    this.#cancelSilence?.();
  }

  #listen(): void {
    if (this.#silenceMs === undefined) return;
    this.#cancelSilence?.();
    this.#cancelSilence = this.#after(this.#silenceMs, `said nothing for ${this.#silenceMs} ms`);
  }

  #after(ms: number, reached: string): CancelTimer {
    return this.#clock.schedule(ms, () => {
      this.#reached = reached;
      this.#stop.abort();
    });
  }
}
