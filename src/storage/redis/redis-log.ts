/**
 * This instance's place in the log of all instances. Reads it on a connection of its own, hands every entry over in
 * order, and lets each commit of this instance go on in its place among them: what follows on a commit has happened
 * before the next entry is looked at. Whoever lost its place (its entry was trimmed) is brought up to date by the
 * difference, and so is one that cannot read an entry, or cannot take it in; where Redis holds other or older data than
 * was read, nothing is taken over until it holds it again, or the instance is started anew.
 */
import { type Clock, errorText, isAgentReachError, log, nextTurn } from '../../core/index.ts';
import {
  COMMAND_TIMEOUT_MS,
  OTHER_DATA,
  type Redis,
  type RedisKeys,
  redisFailure,
  SILENCE_TIMEOUT_MS,
  Trouble,
} from '../../redis/index.ts';
import { storeUnavailable } from '../key-value-store.ts';
import type { LogEntry, LogFollower, LoggedWrite, SharedLog } from '../shared-log.ts';
import { decodeEntry } from './log-entry.ts';
import type { OpeningTables } from './opening-tables.ts';
import { OwnCommit } from './own-commit.ts';
import {
  bodyOf,
  digestOf,
  type FoundEntry,
  markOf,
  positionOf,
  RowDigests,
  type Snapshot,
  takeSnapshot,
} from './redis-snapshot.ts';

/** One wait for news, well under the silence after which the connection is cut. */
const BLOCK_MS = 1_000;
/** The next wait began within one, and its connection is cut by then. */
const SILENCE_MS = BLOCK_MS + SILENCE_TIMEOUT_MS;
const RETRY_MS = 100;
const READ_AT_ONCE = 256;
const LOST_CHANGES = 'Redis has lost changes that this instance has read: restore them, or start this one anew';

export interface RedisLogParts {
  readonly id: string;
  readonly instance: string;
  readonly keys: RedisKeys;
  readonly clock: Clock;
  /** Where Redis is, without a password. */
  readonly place: string;
  /** Of its own: it waits on it. */
  readonly redis: Redis;
  /** Dropped once the log is followed. */
  readonly opened: OpeningTables;
}

interface Waiting {
  readonly position: number;
  readonly resolve: () => void;
}

export class RedisLog implements SharedLog {
  readonly #parts: RedisLogParts;
  readonly #digests = new RowDigests();
  readonly #own = new Map<number, OwnCommit>();
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
  readonly #trouble = new Trouble();

  constructor(parts: RedisLogParts, snapshot: Snapshot) {
    this.#parts = parts;
    this.#position = snapshot.position;
    this.#lastMark = snapshot.mark;
    this.#heardAt = parts.clock.now();
    for (const write of this.#digests.differenceTo(snapshot)) this.#digests.note(write);
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

  /** See `Trouble`: of the time in which nothing was heard of the others. */
  deafUntil(graceMs: number): number {
    const now = this.#parts.clock.now();
    if (this.staleMs !== null) this.#trouble.begin(this.#heardAt);
    return this.#trouble.deafUntil(now, graceMs);
  }

  follow(follower: LogFollower): void {
    this.#follower = follower;
    this.#parts.opened.drop();
    this.#heardAt = this.#parts.clock.now();
    this.#isVerified = false;
    this.#running = this.#run(follower);
  }

  /** A commit of before the log is followed: memory has it, and where nothing lies between, it is read. */
  skip(position: number, writes: readonly LoggedWrite[], body: Buffer): void {
    if (position !== this.#position + 1) return;
    for (const write of writes) this.#digests.note(write);
    this.#moveTo(position, digestOf(body));
  }

  /**
   * Before the log is followed: what it still holds between a position and this instance's own, in order. Error:
   * AR_ERR_STORE_UNAVAILABLE where a part of it was trimmed.
   */
  async *kept(after: number): AsyncGenerator<LogEntry, void> {
    const { redis, keys } = this.#parts;
    for (let last = after; last < this.#position; ) {
      const range = [keys.changes, `(${last}-0`, `${this.#position}-0`, 'COUNT', READ_AT_ONCE] as const;
      const found = (await redis.callBuffer('XRANGE', ...range)) as FoundEntry[];
      if (found.length === 0) throw storeUnavailable('the log is not kept that far back');
      for (const one of found) {
        const position = positionOf(one);
        if (position !== last + 1) throw storeUnavailable('the log is not kept that far back');
        last = position;
        const { writes } = decodeEntry(bodyOf(one));
        yield { position, at: momentOf(one), isOwn: false, isAfterGap: false, writes };
      }
      await nextTurn();
    }
  }

  /** To be called before a commit is sent: `reached` then resolves in its place of the log. */
  place(number: number): { reached(position: number): Promise<void>; forget(): void } {
    const own = new OwnCommit();
    this.#own.set(number, own);
    return {
      reached: (position) => {
        own.answer(true);
        // The second for a commit that was stepped over with others that were missed.
        return this.#within(Promise.race([own.reached, this.#passed(position)]));
      },
      forget: () => {
        own.answer(false);
        this.#own.delete(number);
      },
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
        for (const entry of found.changes) await this.#take(entry, follower);
        for (const [id, fields] of found.beats) this.#takeBeats(id, fields, follower);
        if (found.changes.length < READ_AT_ONCE) this.#noteCaughtUp(heardAt);
      } catch (error) {
        if (this.#isStopped) return;
        this.#isVerified = false;
        this.#noteProblem(isAgentReachError(error) ? error.message : redisFailure(this.#parts.place, error));
        await new Promise<void>((resolve) => void this.#parts.clock.schedule(RETRY_MS, resolve));
      }
    }
  }

  #noteProblem(reason: string): void {
    if (this.#problem === null) log('warn', 'the log of the instances is not followed; trying again', { reason });
    this.#problem = reason;
  }

  async #read(): Promise<{ readonly changes: readonly FoundEntry[]; readonly beats: readonly FoundEntry[] }> {
    const { redis, keys } = this.#parts;
    const ids = [`${this.#position}-0`, this.#lastBeat];
    const wait = ['COUNT', READ_AT_ONCE, 'BLOCK', BLOCK_MS, 'STREAMS'] as const;
    const reading = redis.xreadBuffer(...wait, keys.changes, keys.beats, ...ids);
    // Sent behind it on the same connection: Redis may be emptied, and filled by others, with no connection lost.
    const [answer, [data, newest]] = await Promise.all([reading, redis.mget(keys.logId, keys.position)]);
    this.#assertOwnData(data, Number(newest ?? 0));
    const streams = new Map<string, readonly FoundEntry[]>();
    for (const [name, found] of answer ?? []) streams.set(name.toString(), found);
    return { changes: streams.get(keys.changes) ?? [], beats: streams.get(keys.beats) ?? [] };
  }

  /** After each lost connection: Redis may be another one, or have forgotten. */
  async #verify(follower: LogFollower): Promise<void> {
    const { redis, keys } = this.#parts;
    const [data, found] = await redis.mget(keys.logId, keys.position);
    const newest = Number(found ?? 0);
    this.#assertOwnData(data, newest);
    const here = `${this.#position}-0`;
    const [entry] = (await redis.callBuffer('XRANGE', keys.changes, here, here)) as FoundEntry[];
    const isOther = entry !== undefined && this.#lastMark !== undefined && markOf(entry) !== this.#lastMark;
    if (isOther) throw storeUnavailable(LOST_CHANGES);
    if (entry === undefined && newest > this.#position) await this.#resync(follower);
    const [lastBeat] = (await redis.callBuffer('XREVRANGE', keys.beats, '+', '-', 'COUNT', 1)) as FoundEntry[];
    // Beats of the time in between are old news: the next ones come within an interval.
    if (this.#problem !== null || this.#lastBeat === '0-0') this.#lastBeat = lastBeat?.[0].toString() ?? '0-0';
    this.#isVerified = true;
    this.#behind = newest;
  }

  /** Error: AR_ERR_STORE_UNAVAILABLE where Redis holds other data than was read, or was set back to before it. */
  #assertOwnData(data: string | null | undefined, newest: number): void {
    if (data !== this.id) throw storeUnavailable(OTHER_DATA);
    if (newest < this.#position) throw storeUnavailable(LOST_CHANGES);
  }

  /** Only then: on what it knew before, an instance would take the newest lease of an agent for an unknown one. */
  #noteCaughtUp(heardAt: number): void {
    if (this.#position < this.#behind) return;
    if (this.staleMs !== null) this.#trouble.begin(this.#heardAt);
    this.#trouble.end(this.#parts.clock.now());
    this.#heardAt = heardAt;
    if (this.#problem !== null) log('info', 'the log of the instances is followed again', { position: this.#position });
    this.#problem = null;
  }

  async #take(found: FoundEntry, follower: LogFollower): Promise<void> {
    const position = positionOf(found);
    if (position <= this.#position) return;
    if (position !== this.#position + 1) return this.#resync(follower);
    try {
      const { by, number, writes } = decodeEntry(bodyOf(found));
      const own = by === this.#parts.instance ? this.#own.get(number) : undefined;
      const isOwn = own !== undefined && (await own.taken);
      const entry: LogEntry = { position, at: momentOf(found), isOwn, isAfterGap: false, writes };
      if (!isOwn) await follower.onEntry(entry);
      for (const write of writes) this.#digests.note(write);
      this.#moveTo(position, markOf(found));
      if (!isOwn) return;
      this.#own.delete(number);
      own.reach();
      await nextTurn();
      await follower.onEntry(entry);
    } catch (error) {
      if (isPassing(error)) throw error;
      log('error', 'an entry of the log cannot be read or taken in; its rows are read instead', {
        position,
        reason: errorText(error),
      });
      await this.#resync(follower);
    }
  }

  #takeBeats(id: Buffer, fields: readonly Buffer[], follower: LogFollower): void {
    this.#lastBeat = id.toString();
    if (fields[1]?.toString() === this.#parts.instance) return;
    try {
      follower.onBeats(fields[3]?.toString() ?? '[]');
    } catch (error) {
      log('error', 'heartbeats of another instance cannot be read and are left out', { reason: errorText(error) });
    }
  }

  async #resync(follower: LogFollower): Promise<void> {
    const { redis, keys, clock } = this.#parts;
    const snapshot = await takeSnapshot(redis, keys);
    this.#assertOwnData(snapshot.data, snapshot.position);
    if (snapshot.position <= this.#position) return;
    const writes = this.#digests.differenceTo(snapshot);
    const { position, mark } = snapshot;
    log('warn', 'entries of the log were missed; brought up to date by a snapshot', {
      from: this.#position,
      to: position,
      rows: writes.length,
    });
    await this.#handMissed({ position, at: clock.wallNow(), isOwn: false, isAfterGap: true, writes }, follower);
    for (const write of writes) this.#digests.note(write);
    this.#moveTo(position, mark);
  }

  /** One row that cannot be taken in takes none of the others with it; standing still for good would be worse. */
  async #handMissed(entry: LogEntry, follower: LogFollower): Promise<void> {
    try {
      await follower.onEntry(entry);
      return;
    } catch (error) {
      if (isPassing(error)) throw error;
    }
    for (const write of entry.writes) {
      try {
        await follower.onEntry({ ...entry, writes: [write] });
      } catch (error) {
        if (isPassing(error)) throw error;
        const { table, key } = write;
        log('error', 'a row cannot be taken in; this instance goes on without it', {
          table,
          key,
          reason: errorText(error),
        });
      }
    }
  }

  #moveTo(position: number, mark: string | undefined): void {
    this.#position = position;
    this.#lastMark = mark;
    if (this.#waiting.length === 0) return;
    for (const one of this.#waiting) if (one.position <= position) one.resolve();
    this.#waiting = this.#waiting.filter((one) => one.position > position);
  }
}

const momentOf = ([, fields]: FoundEntry): number => Number(fields[1]);

/** Redis is away: the same works once it is back. */
const isPassing = (error: unknown): boolean => isAgentReachError(error) && error.code === 'AR_ERR_STORE_UNAVAILABLE';
