/**
 * Time as a port. Leases, deadlines and caches count on `now()`, which never goes back; `wallNow()` is for what
 * people read and for `expiresAt`. Nothing else in the service may ask the system for the time.
 */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start. */
  now(): number;
  /** Milliseconds since 1970. */
  wallNow(): number;
  /** Runs `task` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, task: () => void, options?: ScheduleOptions): CancelTimer;
}

export interface ScheduleOptions {
  /** Whether the process waits for it even where nothing else is left to do. Default: no. */
  readonly keepsAlive?: boolean;
}

export type CancelTimer = () => void;

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  schedule(delayMs, task, { keepsAlive = false } = {}) {
    const timer = setTimeout(task, delayMs);
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};
