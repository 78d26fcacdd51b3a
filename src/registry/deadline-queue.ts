/**
 * Calls back for each key whose deadline passed, in order of deadlines, through one timer for all. A deadline moved
 * later costs one map write (every heartbeat does that): its heap entry is looked at again when it surfaces. One turn
 * hands over at most `batch` keys; the rest follows in the next.
 */
import type { CancelTimer, Clock } from '../core/index.ts';

/** Timers overflow at 2^31 ms; looking again each hour costs nothing. */
const LONGEST_WAIT_MS = 3_600_000;
const DEFAULT_BATCH = 500;
/** A timer this late means that the process stood still. */
const STALL_MS = 2_000;

interface Entry {
  readonly at: number;
  readonly key: string;
}

export interface DeadlineQueueOptions {
  readonly clock: Clock;
  /** The key has no deadline any more when this is called; it may set a new one. Must not throw. */
  readonly onDue: (key: string) => void;
  /** The process stood still; told before the keys that are due because of that. May move deadlines. Must not throw. */
  readonly onStall?: (lateMs: number) => void;
  readonly batch?: number;
}

export class DeadlineQueue {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #onStall: ((lateMs: number) => void) | undefined;
  readonly #batch: number;
  readonly #deadlines = new Map<string, number>();
  /** Time of the key's one live heap entry; other entries of the key are leftovers. */
  readonly #queuedAt = new Map<string, number>();
  readonly #heap: Entry[] = [];
  #isStopped = false;
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined;

  constructor(options: DeadlineQueueOptions) {
    this.#clock = options.clock;
    this.#onDue = options.onDue;
    this.#onStall = options.onStall;
    this.#batch = options.batch ?? DEFAULT_BATCH;
  }

  get size(): number {
    return this.#deadlines.size;
  }

  /** `at` is of `clock.now()`. */
  set(key: string, at: number): void {
    if (this.#isStopped) return;
    this.#deadlines.set(key, at);
    const queuedAt = this.#queuedAt.get(key);
    if (queuedAt !== undefined && queuedAt <= at) return;
    this.#push({ at, key });
    this.#arm();
  }

  delete(key: string): void {
    this.#deadlines.delete(key);
  }

  /** For good: what is set afterwards is never handed over. */
  stop(): void {
    this.#isStopped = true;
    this.clear();
  }

  /** Forgets all deadlines. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#deadlines.clear();
    this.#queuedAt.clear();
    this.#heap.length = 0;
  }

  #arm(delayMs?: number): void {
    const first = this.#heap[0];
    if (first === undefined) return;
    const now = this.#clock.now();
    // Never in the past: what is overdue already is not late because the process stood still.
    const at = delayMs === undefined ? Math.max(now, Math.min(first.at, now + LONGEST_WAIT_MS)) : now + delayMs;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const cancel = this.#clock.schedule(at - now, () => this.#tick());
    this.#timer = { at, cancel };
  }

  #tick(): void {
    const now = this.#clock.now();
    const lateMs = now - (this.#timer?.at ?? now);
    this.#timer = undefined;
    if (lateMs > STALL_MS) this.#onStall?.(lateMs);
    let looked = 0;
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      if (looked === this.#batch) {
        this.#arm(0);
        return;
      }
      looked += 1;
      this.#pop();
      this.#settle(first, now);
    }
    this.#arm();
  }

  #settle(entry: Entry, now: number): void {
    const { key } = entry;
    if (this.#queuedAt.get(key) !== entry.at) return;
    this.#queuedAt.delete(key);
    const deadline = this.#deadlines.get(key);
    if (deadline === undefined) return;
    if (deadline > now) {
      this.#push({ at: deadline, key });
      return;
    }
    this.#deadlines.delete(key);
    this.#onDue(key);
  }

  #push(entry: Entry): void {
    this.#queuedAt.set(entry.key, entry.at);
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || parent.at <= entry.at) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const leftAt = 2 * at + 1;
      const left = heap[leftAt];
      if (left === undefined) break;
      const right = heap[leftAt + 1];
      const child = right !== undefined && right.at < left.at ? right : left;
      if (child.at >= last.at) break;
      heap[at] = child;
      at = child === left ? leftAt : leftAt + 1;
    }
    heap[at] = last;
  }
}
