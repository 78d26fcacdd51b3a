/**
 * Tasks that we ourselves gave an agent and that have not ended: what its load is until its next beat says so. A task
 * that nobody ends leaves the count after `windowMs`, so that a lost ending cannot fill an agent for good.
 */
import type { Clock } from '../core/index.ts';

const DEFAULT_WINDOW_MS = 3_600_000;
/** More than any agent takes at once. */
const MAX_AN_AGENT = 1_000_000;

export class InFlightBook {
  readonly #clock: Clock;
  readonly #windowMs: number;
  /** By agent, then by task, in order of start. */
  readonly #started = new Map<string, Map<symbol, number>>();

  constructor(clock: Clock, windowMs = DEFAULT_WINDOW_MS) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** The returned function ends it; calling it twice ends nothing more. */
  start(agentId: string): () => void {
    let tasks = this.#started.get(agentId);
    if (tasks === undefined) {
      tasks = new Map();
      this.#started.set(agentId, tasks);
    }
    const task = Symbol();
    if (tasks.size < MAX_AN_AGENT) tasks.set(task, this.#clock.now());
    return () => {
      const held = this.#started.get(agentId);
      if (held?.delete(task) === true && held.size === 0) this.#started.delete(agentId);
    };
  }

  count(agentId: string): number {
    const tasks = this.#started.get(agentId);
    if (tasks === undefined) return 0;
    const oldest = this.#clock.now() - this.#windowMs;
    for (const [task, at] of tasks) {
      if (at > oldest) break;
      tasks.delete(task);
    }
    if (tasks.size === 0) this.#started.delete(agentId);
    return tasks.size;
  }

  /** The agent left. */
  forget(agentId: string): void {
    this.#started.delete(agentId);
  }
}
