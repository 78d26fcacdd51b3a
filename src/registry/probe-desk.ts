/**
 * Probes that were asked for: one at a time of an agent, some at once in all, each of three tries with jittered waits
 * between. Who asks while one runs joins it.
 */
import { backoffMs, type Clock } from '../core/index.ts';
import type { HealthProber, ProbeAnswer } from './health-prober.ts';

const TRIES = 3;
const DEFAULT_AT_ONCE = 64;
const WAIT = { baseMs: 200, capMs: 1_000, jitterShare: 0.5 };

/** One start of one agent, and where to ask it. */
export interface ProbeTarget {
  readonly agentId: string;
  readonly incarnation: number;
  readonly url: string;
}

export interface ProbeDeskParts {
  readonly clock: Clock;
  /** 0..1, for jitter. */
  readonly random: () => number;
  readonly prober: HealthProber;
  /** Must not throw. */
  readonly onProbed: (target: ProbeTarget, answer: ProbeAnswer) => void;
  readonly atOnce?: number;
}

export class ProbeDesk {
  readonly #parts: ProbeDeskParts;
  readonly #atOnce: number;
  readonly #waiting = new Map<string, ProbeTarget>();
  readonly #running = new Map<string, ProbeTarget>();
  readonly #stopped = new AbortController();

  constructor(parts: ProbeDeskParts) {
    this.#parts = parts;
    this.#atOnce = parts.atOnce ?? DEFAULT_AT_ONCE;
  }

  /** Waiting and running. */
  get size(): number {
    return this.#waiting.size + this.#running.size;
  }

  request(target: ProbeTarget): void {
    if (this.#stopped.signal.aborted) return;
    // A new start is another one to ask; its probe waits for the end of the old one's.
    if (this.#running.get(target.agentId)?.incarnation === target.incarnation) return;
    this.#waiting.set(target.agentId, target);
    this.#startNext();
  }

  /** For good; what runs is cut and told to nobody. */
  stop(): void {
    this.#waiting.clear();
    this.#stopped.abort();
  }

  #startNext(): void {
    for (const [agentId, target] of this.#waiting) {
      if (this.#running.size >= this.#atOnce) return;
      if (this.#running.has(agentId)) continue;
      this.#waiting.delete(agentId);
      this.#running.set(agentId, target);
      void this.#run(target);
    }
  }

  async #run(target: ProbeTarget): Promise<void> {
    const answer = await this.#ask(target.url);
    this.#running.delete(target.agentId);
    if (this.#stopped.signal.aborted) return;
    this.#parts.onProbed(target, answer);
    this.#startNext();
  }

  async #ask(url: string): Promise<ProbeAnswer> {
    const { prober, random } = this.#parts;
    const { signal } = this.#stopped;
    let answer = await prober.probe(url, signal);
    for (let tryNo = 1; tryNo < TRIES && !answer.isAnswered && !signal.aborted; tryNo++) {
      await this.#wait(backoffMs(tryNo, WAIT, random()));
      answer = await prober.probe(url, signal);
    }
    return answer;
  }

  #wait(waitMs: number): Promise<void> {
    const { signal } = this.#stopped;
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.#parts.clock.schedule(waitMs, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
