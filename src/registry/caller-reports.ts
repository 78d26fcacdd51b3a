/**
 * What callers report of agents, in windows of ten seconds, and when that is enough to put one aside: three bad
 * windows in a row. A window is bad with three failures or more, where fewer calls succeeded than failed. Bounded: an
 * agent's counts are two windows old at most, and go with the agent.
 */
import type { OutcomeReport } from '../contract/index.ts';
import type { Clock } from '../core/index.ts';

const WINDOW_MS = 10_000;
const BAD_WINDOWS = 3;
const LEAST_FAILURES = 3;
const MAX_COUNT = 1_000_000;
/** Of one agent in one window; further ones are counted without looking for doubles. */
const MAX_REQUEST_IDS = 1_000;
const EJECTION_STEP_MS = 30_000;
const MAX_EJECTION_MS = 300_000;
/** An agent that was well for so long starts with the shortest ejection again. */
const PARDON_MS = 600_000;

interface Window {
  readonly index: number;
  succeeded: number;
  failed: number;
  readonly requestIds: Set<string>;
  /** Bad windows directly before this one. */
  readonly badBefore: number;
}

interface Ejections {
  readonly count: number;
  readonly endsAt: number;
}

export class CallerReports {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  readonly #ejections = new Map<string, Ejections>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** False where this request was reported before. */
  count(agentId: string, { outcome, requestId }: OutcomeReport): boolean {
    const window = this.#window(agentId);
    if (requestId !== undefined) {
      if (window.requestIds.has(requestId)) return false;
      if (window.requestIds.size < MAX_REQUEST_IDS) window.requestIds.add(requestId);
    }
    if (outcome === 'success') window.succeeded = Math.min(MAX_COUNT, window.succeeded + 1);
    else window.failed = Math.min(MAX_COUNT, window.failed + 1);
    return true;
  }

  /** Whether its callers have had enough of it. */
  isFailing(agentId: string): boolean {
    const window = this.#current(agentId);
    return window !== undefined && isBad(window) && window.badBefore + 1 >= BAD_WINDOWS;
  }

  /** Puts the agent aside: answers for how long, longer each time. Counting starts anew. */
  eject(agentId: string): number {
    const now = this.#clock.now();
    const before = this.#ejections.get(agentId);
    const count = before === undefined || now - before.endsAt > PARDON_MS ? 1 : before.count + 1;
    const lastsMs = Math.min(MAX_EJECTION_MS, EJECTION_STEP_MS * count);
    this.#ejections.set(agentId, { count, endsAt: now + lastsMs });
    this.#windows.delete(agentId);
    return lastsMs;
  }

  /** A new start has no reports yet; how often the agent was put aside is remembered. */
  startAnew(agentId: string): void {
    this.#windows.delete(agentId);
  }

  forget(agentId: string): void {
    this.#windows.delete(agentId);
    this.#ejections.delete(agentId);
  }

  /** Agents of which anything is remembered. */
  get size(): number {
    return new Set([...this.#windows.keys(), ...this.#ejections.keys()]).size;
  }

  #index(): number {
    return Math.floor(this.#clock.now() / WINDOW_MS);
  }

  #current(agentId: string): Window | undefined {
    const window = this.#windows.get(agentId);
    return window?.index === this.#index() ? window : undefined;
  }

  #window(agentId: string): Window {
    const current = this.#current(agentId);
    if (current !== undefined) return current;
    const last = this.#windows.get(agentId);
    const index = this.#index();
    const isNext = last !== undefined && last.index === index - 1 && isBad(last);
    const badBefore = isNext ? Math.min(BAD_WINDOWS, last.badBefore + 1) : 0;
    const window: Window = { index, succeeded: 0, failed: 0, requestIds: new Set(), badBefore };
    this.#windows.set(agentId, window);
    return window;
  }
}

function isBad({ succeeded, failed }: Window): boolean {
  return failed >= LEAST_FAILURES && failed > succeeded;
}
