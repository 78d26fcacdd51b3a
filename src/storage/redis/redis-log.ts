/**
 * This instance's place in the log of all instances. Reads it on a connection of its own, hands every entry over in
 * order, and lets each commit of this instance go on in its place among them: what follows on a commit has happened
 * before the next entry is looked at. Whoever lost its place (its entry was trimmed) is brought up to date by the
 * difference; where Redis holds other or older data than was read, nothing is taken over until it holds it again, or
 * the instance is started anew.
 */
import { type Clock, errorText, log, nextTurn } from '../../core/index.ts';
import { COMMAND_TIMEOUT_MS, type Redis, type RedisKeys, SILENCE_TIMEOUT_MS } from '../../redis/index.ts';
import { storeUnavailable } from '../key-value-store.ts';
import type { LogEntry, LogFollower, LoggedWrite, SharedLog } from '../shared-log.ts';
import { decodeEntry } from './log-entry.ts';
import { RowDigests, type Snapshot, takeSnapshot } from './redis-snapshot.ts';

/** One wait for news, well under the silence after which the connection is cut. */
const BLOCK_MS = 1_000;
/** The next wait began within one, and its connection is cut by then. */
const SILENCE_MS = BLOCK_MS + SILENCE_TIMEOUT_MS;
const RETRY_MS = 100;
const READ_AT_ONCE = 256;

export interface RedisLogParts {
  readonly id: string;
  readonly instance: string;
  readonly keys: RedisKeys;
  readonly clock: Clock;
  /** Of its own: it waits on it. */
  readonly redis: Redis;
  readonly snapshot: Snapshot;
}

interface Waiting {
  readonly position: number;
  readonly resolve: () => void;
}

type Found = readonly [id: Buffer, fields: readonly Buffer[]];

export class RedisLog implements SharedLog {
  readonly #parts: RedisLogParts;
  readonly #digests = new RowDigests();
  readonly #own = new Map<number, () => void>();
  #waiting: Waiting[] = [];
  #position: number;
  #lastMark: string | undefined;
  #lastBeat = '0-0';
  #follower: LogFollower | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  #isVerified = true;
  /** What was there when the connection was made must be read before anything counts as heard. */
  #behind = 0;
  #heardAt: number;
  #problem: string | null = null;

  constructor(parts: RedisLogParts) {
    this.#parts = parts;
    this.#position = parts.snapshot.position;
    this.#heardAt = parts.clock.now();
    this.#digests.moveTo(parts.snapshot);
  }

  get id(): string {
    return this.#parts.id;
  }

  get position(): number {
    return this.#position;
  }

  get isFollowing(): boolean {
    return this.#follower !== undefined;
  }

  /** Why nothing is followed now. */
  get problem(): string | null {
    return this.#problem;
  }

  get staleMs(): number | null {
    if (!this.isFollowing) return null;
    const silentMs = this.#parts.clock.now() - this.#heardAt;
    return this.#problem !== null || silentMs > SILENCE_MS ? Math.round(silentMs) : null;
  }

  follow(follower: LogFollower): void {
    this.#follower = follower;
    this.#heardAt = this.#parts.clock.now();
    this.#isVerified = false;
    this.#running = this.#run(follower);
  }

  /** A commit of before the log is followed: memory has it, and where nothing lies between, it is read. */
  skip(position: number, writes: readonly LoggedWrite[]): void {
    if (position !== this.#position + 1) return;
    for (const write of writes) this.#digests.note(write);
    this.#position = position;
  }

  /**
   * Before the log is followed: what it still holds between a position and this instance's own, in order. Error:
   * AR_ERR_STORE_UNAVAILABLE where a part of it was trimmed.
   */
  async *kept(after: number): AsyncGenerator<LogEntry, void> {
    const { redis, keys } = this.#parts;
    for (let last = after; last < this.#position; ) {
      const range = [keys.changes, `(${last}-0`, `${this.#position}-0`, 'COUNT', READ_AT_ONCE] as const;
      const found = (await redis.callBuffer('XRANGE', ...range)) as Found[];
      if (found.length === 0) throw storeUnavailable('the log is not kept that far back');
      for (const [id, fields] of found) {
        const position = Number.parseInt(id.toString(), 10);
        if (position !== last + 1) throw storeUnavailable('the log is not kept that far back');
        last = position;
        const { writes } = decodeEntry(fields[3] ?? Buffer.alloc(0));
        yield { position, at: Number(fields[1]), isOwn: false, isAfterGap: false, writes };
      }
      await nextTurn();
    }
  }

  /** To be called before a commit is sent: `reached` then resolves in its place of the log. */
  place(number: number): { reached(position: number): Promise<void>; forget(): void } {
    const reached = new Promise<void>((resolve) => void this.#own.set(number, resolve));
    return {
      // The second for a commit that was stepped over with others that were missed.
      reached: (position) => this.#within(Promise.race([reached, this.#passed(position)])),
      forget: () => void this.#own.delete(number),
    };
  }

  /** Once memory has everything up to there. Error: AR_ERR_STORE_UNAVAILABLE when that takes too long. */
  async caughtUp(position: number): Promise<void> {
    await this.#within(this.#passed(position));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#parts.redis.disconnect();
    await this.#running;
  }

  #passed(position: number): Promise<void> {
    if (this.#position >= position) return Promise.resolve();
    return new Promise((resolve) => void this.#waiting.push({ position, resolve }));
  }

  async #within<T>(work: Promise<T>): Promise<T> {
    let cancel: (() => void) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      cancel = this.#parts.clock.schedule(COMMAND_TIMEOUT_MS, () =>
        reject(storeUnavailable('Redis took the change, but its log is not heard: ask again what became of it')),
      );
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel?.();
    }
  }

  async #run(follower: LogFollower): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (!this.#isVerified) await this.#verify(follower);
        const found = await this.#read();
        const heardAt = this.#parts.clock.now();
        for (const [id, fields] of found.changes) await this.#take(id, fields, follower);
        for (const [id, fields] of found.beats) this.#takeBeats(id, fields, follower);
        if (found.changes.length < READ_AT_ONCE) this.#noteCaughtUp(heardAt);
      } catch (error) {
        if (this.#isStopped) return;
        this.#isVerified = false;
        this.#noteProblem(errorText(error));
        await new Promise<void>((resolve) => void this.#parts.clock.schedule(RETRY_MS, resolve));
      }
    }
  }

  #noteProblem(reason: string): void {
    if (this.#problem === null) log('warn', 'the log of the instances is not followed; trying again', { reason });
    this.#problem = reason;
  }

  async #read(): Promise<{ readonly changes: readonly Found[]; readonly beats: readonly Found[] }> {
    const { redis, keys } = this.#parts;
    const ids = [`${this.#position}-0`, this.#lastBeat];
    const wait = ['COUNT', READ_AT_ONCE, 'BLOCK', BLOCK_MS, 'STREAMS'] as const;
    const answer = await redis.xreadBuffer(...wait, keys.changes, keys.beats, ...ids);
    const streams = new Map<string, readonly Found[]>();
    for (const [name, found] of answer ?? []) streams.set(name.toString(), found);
    return { changes: streams.get(keys.changes) ?? [], beats: streams.get(keys.beats) ?? [] };
  }

  /** After each lost connection: Redis may be another one, or have forgotten. */
  async #verify(follower: LogFollower): Promise<void> {
    const { redis, keys, id } = this.#parts;
    const found = await redis.get(keys.logId);
    if (found !== id) {
      throw new Error('Redis holds other data than this instance has read: restore it, or start this one anew');
    }
    const newest = Number((await redis.get(keys.position)) ?? 0);
    const here = `${this.#position}-0`;
    const [entry] = (await redis.callBuffer('XRANGE', keys.changes, here, here)) as Found[];
    const isOther = entry !== undefined && this.#lastMark !== undefined && markOf(entry[1]) !== this.#lastMark;
    if (newest < this.#position || isOther) {
      throw new Error('Redis has lost changes that this instance has read: restore them, or start this one anew');
    }
    if (entry === undefined && newest > this.#position) await this.#resync(follower);
    const [lastBeat] = (await redis.callBuffer('XREVRANGE', keys.beats, '+', '-', 'COUNT', 1)) as Found[];
    // Beats of the time in between are old news: the next ones come within an interval.
    if (this.#problem !== null || this.#lastBeat === '0-0') this.#lastBeat = lastBeat?.[0].toString() ?? '0-0';
    this.#isVerified = true;
    this.#behind = newest;
  }

  /** Only then: on what it knew before, an instance would take the newest lease of an agent for an unknown one. */
  #noteCaughtUp(heardAt: number): void {
    if (this.#position < this.#behind) return;
    this.#heardAt = heardAt;
    if (this.#problem !== null) log('info', 'the log of the instances is followed again', { position: this.#position });
    this.#problem = null;
  }

  async #take(id: Buffer, fields: readonly Buffer[], follower: LogFollower): Promise<void> {
    const position = Number.parseInt(id.toString(), 10);
    if (position <= this.#position) return;
    if (position !== this.#position + 1) return this.#resync(follower);
    const { by, number, writes } = decodeEntry(fields[3] ?? Buffer.alloc(0));
    const own = by === this.#parts.instance ? this.#own.get(number) : undefined;
    for (const write of writes) this.#digests.note(write);
    const entry: LogEntry = { position, at: Number(fields[1]), isOwn: own !== undefined, isAfterGap: false, writes };
    if (own === undefined) await follower.onEntry(entry);
    this.#moveTo(position, `${by}/${number}`);
    if (own === undefined) return;
    this.#own.delete(number);
    own();
    await nextTurn();
    await follower.onEntry(entry);
  }

  #takeBeats(id: Buffer, fields: readonly Buffer[], follower: LogFollower): void {
    this.#lastBeat = id.toString();
    if (fields[1]?.toString() !== this.#parts.instance) follower.onBeats(fields[3]?.toString() ?? '[]');
  }

  async #resync(follower: LogFollower): Promise<void> {
    const { redis, keys } = this.#parts;
    const snapshot = await takeSnapshot(redis, keys);
    if (snapshot.position <= this.#position) return;
    const writes = this.#digests.moveTo(snapshot);
    log('warn', 'entries of the log were missed; brought up to date by a snapshot', {
      from: this.#position,
      to: snapshot.position,
      rows: writes.length,
    });
    const { position } = snapshot;
    const at = this.#parts.clock.wallNow();
    await follower.onEntry({ position, at, isOwn: false, isAfterGap: true, writes });
    this.#moveTo(position, undefined);
  }

  #moveTo(position: number, mark: string | undefined): void {
    this.#position = position;
    this.#lastMark = mark;
    if (this.#waiting.length === 0) return;
    for (const one of this.#waiting) if (one.position <= position) one.resolve();
    this.#waiting = this.#waiting.filter((one) => one.position > position);
  }
}

/** Instance and number: tells an entry from another one of the same position. */
function markOf(fields: readonly Buffer[]): string {
  const { by, number } = decodeEntry(fields[3] ?? Buffer.alloc(0));
  return `${by}/${number}`;
}
