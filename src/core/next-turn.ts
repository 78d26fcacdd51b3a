import type { Clock } from './clock.ts';

/** Lets everything that waits on the event loop run first: long work calls it between slices of about a millisecond. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** When work of many steps of unlike cost gives way: after so many steps, or sooner where they took long. */
export class TurnPace {
  readonly #clock: Clock;
  readonly #limits: { readonly steps: number; readonly ms: number };
  #steps = 0;
  #startedAt: number;

  constructor(clock: Clock, limits: { readonly steps: number; readonly ms: number }) {
    this.#clock = clock;
    this.#limits = limits;
    this.#startedAt = clock.now();
  }

  /** To be awaited after each step. */
  async step(): Promise<void> {
    const { steps, ms } = this.#limits;
    if (++this.#steps < steps && this.#clock.now() - this.#startedAt < ms) return;
    await nextTurn();
    this.#steps = 0;
    this.#startedAt = this.#clock.now();
  }
}
