/**
 * When a change of capabilities is worth a rebuild. Pure: the rebuilder owns the timer and asks again at each change.
 *
 *     quiet for debounceMs           the usual case
 *     the delta is large             at once, or once the last rebuild has rested four times its own length
 *     maxWaitMs since first change   whatever else holds
 *
 * So a bulk registration, whose delta is large again right after each rebuild, spends at most a fifth of the time on
 * rebuilds: without the rest they took a core for as long as it lasted, which the model needed.
 */
export interface PaceLimits {
  readonly debounceMs: number;
  readonly maxWaitMs: number;
}

/** Times on one monotonic scale. */
export interface PaceState {
  readonly now: number;
  readonly firstChangeAt: number;
  readonly isDeltaLarge: boolean;
  /** From `restUntil` of the last rebuild; 0 before the first one. */
  readonly restsUntil: number;
}

const REST_FACTOR = 4;

export function restUntil(endedAt: number, durationMs: number): number {
  return endedAt + REST_FACTOR * durationMs;
}

export function rebuildDelayMs({ debounceMs, maxWaitMs }: PaceLimits, state: PaceState): number {
  const { now, firstChangeAt, isDeltaLarge, restsUntil } = state;
  const quietMs = isDeltaLarge ? Math.min(debounceMs, restsUntil - now) : debounceMs;
  return Math.max(0, Math.min(quietMs, firstChangeAt + maxWaitMs - now));
}
