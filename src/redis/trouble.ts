/** When something was last wrong, and for how long: silence of that time says nothing about whoever was silent. */

/** Who was refused while it lasted may need a moment to try again. */
const RETRY_MS = 2_000;

export class Trouble {
  #startedAt: number | null = null;
  #endedAt = Number.NEGATIVE_INFINITY;
  #lastedMs = 0;

  /** Changes nothing while it lasts. */
  begin(now: number): void {
    this.#startedAt ??= now;
  }

  end(now: number): void {
    if (this.#startedAt === null) return;
    this.#lastedMs = now - this.#startedAt;
    this.#endedAt = now;
    this.#startedAt = null;
  }

  /**
   * Before that moment no silence counts: as long after the end as it lasted and a moment more, at most `graceMs`, so
   * that short troubles that come again and again do not spare the dead for ever.
   */
  deafUntil(now: number, graceMs: number): number {
    const isOn = this.#startedAt !== null;
    const lastedMs = this.#startedAt === null ? this.#lastedMs : now - this.#startedAt;
    return (isOn ? now : this.#endedAt) + Math.min(graceMs, lastedMs + RETRY_MS);
  }
}
