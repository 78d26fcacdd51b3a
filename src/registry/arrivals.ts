/**
 * Registrations that come in a burst, as when thousands of agents return after an outage. Few begin in one turn of the
 * event loop and few are stored at once, since all that one flush has stored is applied and answered in one turn: so a
 * route or a beat waits for a few of them, not for all.
 */
import { nextTurn } from '../core/index.ts';

/** About a millisecond of work. */
const BEGIN_A_TURN = 2;
/** Some milliseconds of work in the turn of their flush; fewer would leave flushes half empty. */
const STORED_AT_ONCE = 16;

export class Arrivals {
  readonly #beginning: (() => void)[] = [];
  readonly #storing: (() => void)[] = [];
  #begun = 0;
  #stored = 0;

  /** Resolves in its turn; at once where nobody else has come. */
  begin(): Promise<void> {
    if (this.#begun === 0) void nextTurn().then(() => this.#turn());
    if (this.#begun < BEGIN_A_TURN) {
      this.#begun += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => void this.#beginning.push(resolve));
  }

  async store<T>(task: () => Promise<T>): Promise<T> {
    if (this.#stored === STORED_AT_ONCE) await new Promise<void>((resolve) => void this.#storing.push(resolve));
    else this.#stored += 1;
    try {
      return await task();
    } finally {
      const next = this.#storing.shift();
      if (next === undefined) this.#stored -= 1;
      else next();
    }
  }

  #turn(): void {
    const admitted = this.#beginning.splice(0, BEGIN_A_TURN);
    this.#begun = admitted.length;
    if (admitted.length > 0) void nextTurn().then(() => this.#turn());
    for (const begin of admitted) begin();
  }
}
