/**
 * Heartbeats on their way to the other instances: gathered for a moment, then one script for all of them. A beat was
 * answered before it is sent; of those that cannot be sent the others learn nothing, and hear the next ones.
 */
import { type CancelTimer, errorText, log } from '../core/index.ts';
import { OTHER_DATA } from './redis-failure.ts';
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-script.ts';
import { BEATS } from './redis-scripts.ts';
import type { WriteWatch } from './write-watch.ts';

/** What other instances wait longer for a beat; fewer, larger scripts for it. */
const GATHER_MS = 25;
/** A script of so many takes about a millisecond of Redis. */
const MOST_A_SCRIPT = 500;
/** Batches kept for instances that read late; whoever is later hears the next beats. */
const KEPT_BATCHES = 1_000;
/** A batch that arrives later would bring agents back that are dead by then. */
const LATEST_MS = 1_000;

export interface BeatNote {
  readonly agentId: string;
  readonly leaseId: string;
  /** From now until the lease may be ended. */
  readonly leaseMs: number;
  /** What the others are told. */
  readonly told: unknown;
}

/** How far this instance has read. */
export interface ReadLog {
  readonly position: number;
}

export class BeatSender {
  readonly #link: RedisLink;
  readonly #log: ReadLog;
  readonly #writes: WriteWatch;
  /** The newest of each agent. */
  #waiting = new Map<string, BeatNote>();
  #cancel: CancelTimer | undefined;
  #hasFailed = false;

  constructor(link: RedisLink, log: ReadLog, writes: WriteWatch) {
    this.#link = link;
    this.#log = log;
    this.#writes = writes;
  }

  send(note: BeatNote): void {
    this.#waiting.set(note.agentId, note);
    if (this.#waiting.size >= MOST_A_SCRIPT) this.#flush();
    else this.#cancel ??= this.#link.clock.schedule(GATHER_MS, () => this.#flush());
  }

  stop(): void {
    this.#cancel?.();
    this.#waiting.clear();
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const notes = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#run(notes).then(
      () => {
        this.#hasFailed = false;
      },
      (error: unknown) => {
        const reason = errorText(error);
        if (!this.#hasFailed) log('warn', 'heartbeats were not told to other instances', { reason });
        this.#hasFailed = true;
        this.#writes.failed(reason);
      },
    );
  }

  async #run(notes: readonly BeatNote[]): Promise<void> {
    const { keys, clock, time, instance } = this.#link;
    const sentAt = clock.now();
    const batch = JSON.stringify(notes.map(({ told }) => told));
    const beats = notes.flatMap(({ agentId, leaseId, leaseMs }) => [agentId, leaseId, Math.max(0, leaseMs)]);
    const names = [keys.position, keys.table('agents'), keys.deadlines, keys.beats, keys.leases];
    const until = time.in(LATEST_MS, sentAt);
    const args = [this.#log.position, instance, batch, KEPT_BATCHES, until, ...beats];
    const [outcome, redisMs] = (await runScript(this.#link, BEATS, names, args)) as [number, number];
    time.learn(redisMs, sentAt, clock.now());
    if (outcome === 0) throw new Error('heartbeats reached Redis too late to count');
    if (outcome !== 1) throw new Error(OTHER_DATA);
  }
}
