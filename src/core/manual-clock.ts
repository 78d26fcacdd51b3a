import type { CancelTimer, Clock } from './clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/** A clock that moves only when told to: `advance(ms)` runs every timer due on the way, in order of its time. */
export class ManualClock implements Clock {
  #now: number;
  #wallOffset: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 0, wallStartMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
    this.#wallOffset = wallStartMs - startMs;
  }

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#now + this.#wallOffset;
  }

  /** Moves the wall clock alone, as an NTP step does. */
  shiftWall(ms: number): void {
    this.#wallOffset += ms;
  }

  schedule(delayMs: number, task: () => void): CancelTimer {
    const timer: Timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, task };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#nextDue(end); next !== undefined; next = this.#nextDue(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.task();
    }
    this.#now = end;
  }

  /** Time goes on while the process stands still: whatever falls due meanwhile runs late, at the end. */
  stall(ms: number): void {
    this.#now += ms;
    this.advance(0);
  }

  #nextDue(end: number): Timer | undefined {
    let due: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (due === undefined || timer.at < due.at || (timer.at === due.at && timer.order < due.order)) due = timer;
    }
    return due;
  }
}
