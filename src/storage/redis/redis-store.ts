/**
 * The store in Redis, shared by any number of instances: one hash a table, each commit one script that checks that no
 * row was changed after what this instance has read of the log, applies the writes and appends them to the log. While
 * an instance follows the log its commits resolve in their place among those of the others. Reads and commits fail at
 * once while the connection is down.
 *
 * Until the log is followed, reads of the tables that instances hold in memory are of the moment of opening, so that
 * what is loaded is where the log goes on. A commit whose answer was lost is in the log or not; if it is, memory takes
 * it in as one of another instance. It survives the death of this process; that of Redis as far as Redis is configured
 * to (appendfsync).
 */
import { randomBytes } from 'node:crypto';
import { AgentReachError, type Clock, errorText, isAgentReachError, nextTurn, systemClock } from '../../core/index.ts';
import {
  COMMAND_TIMEOUT_MS,
  connectRedis,
  OPEN,
  OTHER_DATA,
  type Redis,
  type RedisKeys,
  type RedisLink,
  RedisTime,
  redisAddress,
  redisAway,
  redisFailure,
  redisKeys,
  WriteWatch,
} from '../../redis/index.ts';
import {
  assertStorable,
  byKey,
  KEYS_A_SLICE,
  type KeyRange,
  type KeyValueStore,
  LOGGED_TABLES,
  type RangedTable,
  STORE_CLOSED,
  storeClosed,
  storeUnavailable,
  type TableName,
  type TableWrite,
} from '../key-value-store.ts';
import { lockDataDir } from '../lmdb/data-dir.ts';
import type { DirectoryLock } from '../lmdb/directory-lock.ts';
import { checkSchemaVersion } from '../schema-version.ts';
import { type CommitLimits, CommitSender } from './commit-sender.ts';
import { encodeEntry } from './log-entry.ts';
import { OpeningTables } from './opening-tables.ts';
import { RedisLog } from './redis-log.ts';
import { takeSnapshot } from './redis-snapshot.ts';

/** Fields asked for at once: bounds the arguments of one call. */
const MAX_FIELDS = 5_000;
/** Whoever is further behind is brought up to date by a snapshot; 1 KB each. */
const DEFAULT_LOG_ENTRIES = 10_000;
/** A commit that arrives later does nothing: whoever asked for it was told that it failed, or is soon. */
const LATEST_COMMIT_MS = COMMAND_TIMEOUT_MS - 1_000;
/** A note that arrives later is no news: by then another instance may know better. */
const LATEST_NOTE_MS = 1_000;
/** What the commit script answers to a commit that comes after its time. */
const TOO_LATE = -4;
/** Told by name only: large, and read whole from the table. */
const UNTOLD_TABLES: ReadonlySet<TableName> = new Set(['meta', 'rules']);

export interface RedisStoreOptions {
  /** As REDIS_URL_FORM says. */
  readonly url: string;
  readonly clock?: Clock;
  /** Of every key. Default `agent-reach`. */
  readonly prefix?: string;
  /** Entries of the log that are kept, about. Default 10,000. */
  readonly logEntries?: number;
  /** Owned as the embedded store owns it, until `close`: index versions lie there whatever holds the rest. */
  readonly dataDir?: string;
}

interface Opened {
  readonly link: RedisLink;
  readonly log: RedisLog;
  readonly logEntries: number;
  readonly tables: OpeningTables;
  readonly lock: DirectoryLock | undefined;
}

export class RedisStore implements KeyValueStore {
  readonly log: RedisLog;
  readonly link: RedisLink;
  readonly writes: WriteWatch;
  readonly #opened: Opened;
  readonly #sender: CommitSender;
  readonly #redis: Redis;
  readonly #keys: RedisKeys;
  readonly #inFlight = new Set<Promise<unknown>>();
  #number = 0;
  #closing: Promise<void> | undefined;
  #fence: string | null = null;

  private constructor(opened: Opened) {
    this.#opened = opened;
    this.log = opened.log;
    this.link = opened.link;
    this.writes = new WriteWatch(opened.link);
    this.#sender = new CommitSender({ ...opened, writes: this.writes });
    this.#redis = opened.link.redis;
    // Known at once, and over once a write is taken again: what waits for it is refused meanwhile.
    this.#redis.on('close', () => this.writes.failed(redisAway(this.link.place)));
    this.#keys = opened.link.keys;
  }

  /**
   * Errors: AR_ERR_STORE_IN_USE where another process owns `dataDir`; AR_ERR_STORE_UNAVAILABLE for a wrong address,
   * password or version of Redis, and for data of another version of this service.
   */
  static async open(options: RedisStoreOptions): Promise<RedisStore> {
    const lock = options.dataDir === undefined ? undefined : await lockDataDir(options.dataDir);
    const opening: Redis[] = [];
    try {
      return await RedisStore.#connect(options, opening, lock);
    } catch (error) {
      for (const redis of opening) redis.disconnect();
      await lock?.release();
      if (error instanceof AgentReachError) throw error;
      const reason = errorText(error);
      const hint = reason.startsWith('MOVED ')
        ? '; it is a node of a cluster, whose REDIS_URL is redis+cluster://…'
        : '';
      throw storeUnavailable(`Redis at ${redisAddress(options.url).place}: ${reason}${hint}`, error);
    }
  }

  static async #connect(
    { url, prefix, clock = systemClock, logEntries = DEFAULT_LOG_ENTRIES }: RedisStoreOptions,
    opening: Redis[],
    lock: DirectoryLock | undefined,
  ): Promise<RedisStore> {
    const keys = redisKeys(prefix);
    const { place } = redisAddress(url);
    const redis = await connectRedis(url, keys.logId);
    opening.push(redis);
    const listening = await connectRedis(url, keys.logId);
    opening.push(listening);
    const instance = randomBytes(8).toString('hex');
    const time = new RedisTime();
    const askedAt = clock.now();
    const [id, redisMs] = (await redis.eval(OPEN, 1, keys.logId, instance)) as [string, number];
    time.learn(redisMs, askedAt, clock.now());
    const snapshot = await takeSnapshot(redis, keys);
    if (snapshot.data !== id) throw storeUnavailable(OTHER_DATA);
    const link: RedisLink = { redis, place, keys, data: id, clock, time, instance };
    const opened = new OpeningTables(snapshot);
    const log = new RedisLog({ id, instance, keys, clock, place, redis: listening, opened }, snapshot);
    const store = new RedisStore({ link, log, logEntries, tables: opened, lock });
    await checkSchemaVersion(store, place);
    return store;
  }

  /** Entries of the log that are kept, about. */
  get logEntries(): number {
    return this.#opened.logEntries;
  }

  get problem(): string | null {
    if (this.#closing !== undefined) return STORE_CLOSED;
    if (this.#redis.status !== 'ready') return redisAway(this.link.place);
    return this.log.problem ?? this.writes.problem;
  }

  /** The fence under which this instance may end leases; null while it is not the sweeper. */
  useFence(fence: string | null): void {
    this.#fence = fence;
  }

  async get(table: TableName, key: string): Promise<Uint8Array | undefined> {
    const opened = this.#openedRows(table);
    if (opened !== undefined) return copyOf(opened.get(key));
    const value = await this.#read(() => this.#redis.hgetBuffer(this.#keys.table(table), key));
    return value ?? undefined;
  }

  async getMany(table: TableName, keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    const opened = this.#openedRows(table);
    if (opened !== undefined) return keys.map((key) => copyOf(opened.get(key)));
    const found: (Uint8Array | undefined)[] = [];
    for (let from = 0; from < keys.length; from += MAX_FIELDS) {
      const fields = keys.slice(from, from + MAX_FIELDS);
      const values = await this.#read(() => this.#redis.hmgetBuffer(this.#keys.table(table), ...fields));
      for (const value of values) found.push(value ?? undefined);
    }
    return found;
  }

  async entries(table: TableName): Promise<(readonly [string, Uint8Array])[]> {
    const opened = this.#openedRows(table);
    if (opened !== undefined) return [...opened].map(([key, value]) => [key, Buffer.from(value)] as const).sort(byKey);
    const rows = await this.#read(() => this.#redis.hgetallBuffer(this.#keys.table(table)));
    return Object.entries(rows).sort(byKey);
  }

  async *keys(table: TableName): AsyncGenerator<readonly string[], undefined> {
    // HSCAN would send every value too; 100,000 keys are 10 MB.
    const all = await this.#read(() => this.#redis.hkeys(this.#keys.table(table)));
    for (let from = 0; from < all.length; from += KEYS_A_SLICE) {
      yield all.slice(from, from + KEYS_A_SLICE);
      await nextTurn();
    }
    return undefined;
  }

  async range(table: RangedTable, range: KeyRange): Promise<(readonly [string, Uint8Array])[]> {
    const order = this.#keys.order(table);
    const top = range.before === undefined ? '+' : `(${range.before}`;
    const keys = await this.#read(() =>
      range.isReverse === true
        ? this.#redis.zrevrangebylex(order, top, '-', 'LIMIT', 0, range.limit)
        : this.#redis.zrangebylex(order, '-', top, 'LIMIT', 0, range.limit),
    );
    const values = await this.getMany(table, keys);
    return keys.flatMap((key, i) => {
      const value = values[i];
      return value === undefined ? [] : [[key, value] as const];
    });
  }

  async commit(writes: readonly TableWrite[]): Promise<void> {
    this.#assertOpen();
    assertStorable(writes);
    const number = ++this.#number;
    const isLogged = writes.some(({ table }) => LOGGED_TABLES.has(table));
    if (isLogged && this.log.problem !== null) throw storeUnavailable(this.log.problem);
    const place = isLogged && this.log.isFollowing ? this.log.place(number) : undefined;
    try {
      const entry = isLogged ? this.#entryOf(number, writes) : '';
      const [outcome, position] = await this.#send(writes, entry);
      if (outcome !== 1) throw await this.#refusal(outcome, position);
      if (entry !== '' && !this.log.isFollowing) this.#noteOpened(writes, position, entry);
      await place?.reached(position);
    } finally {
      place?.forget();
    }
  }

  /** Puts a note about an agent in the log, for all instances to hear; stores nothing. Resolves in its place. */
  async announce(agentId: string, note: string): Promise<void> {
    this.#assertOpen();
    const number = ++this.#number;
    const place = this.log.isFollowing ? this.log.place(number) : undefined;
    try {
      const write = { table: 'agents' as const, key: agentId, value: undefined, note };
      const entry = encodeEntry({ by: this.link.instance, number, writes: [write] });
      const [outcome, position] = await this.#run([], entry, { latestMs: LATEST_NOTE_MS });
      if (outcome !== 1) throw await this.#refusal(outcome, position);
      await place?.reached(position);
    } finally {
      place?.forget();
    }
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.writes.stop();
      await Promise.allSettled(this.#inFlight);
      await this.log.stop();
      this.#redis.disconnect();
      await this.#opened.lock?.release();
    })();
    return this.#closing;
  }

  #entryOf(number: number, writes: readonly TableWrite[]): Buffer {
    const logged = writes.filter(({ table }) => LOGGED_TABLES.has(table));
    return encodeEntry({
      by: this.link.instance,
      number,
      writes: logged.map(({ table, key, value, note }) => ({
        table,
        key,
        note,
        value: value !== null && UNTOLD_TABLES.has(table) ? undefined : value,
      })),
    });
  }

  async #send(writes: readonly TableWrite[], entry: Buffer | ''): Promise<readonly [number, number]> {
    const isEnd = writes.some(({ endsLease }) => endsLease === true);
    if (isEnd && this.#fence === null) return [-3, 0];
    const limits = { latestMs: LATEST_COMMIT_MS, fence: isEnd ? this.#fence : null };
    const sent = await this.#run(writes, entry, limits);
    // Refused for its lateness it did nothing; by now it is known what time it is there, should its clock have jumped.
    return sent[0] === TOO_LATE ? this.#run(writes, entry, limits) : sent;
  }

  async #run(writes: readonly TableWrite[], entry: Buffer | '', limits: CommitLimits) {
    return this.#track(() => this.#sender.send(writes, entry, limits));
  }

  async #refusal(outcome: number, newest: number): Promise<AgentReachError> {
    if (outcome === -1) return storeUnavailable(OTHER_DATA);
    if (outcome === TOO_LATE) return storeUnavailable('Redis took longer than it was waited for');
    if (outcome === -2) {
      if (this.log.isFollowing) await this.log.caughtUp(newest);
      return new AgentReachError('AR_ERR_STORE_CONFLICT');
    }
    return new AgentReachError('AR_ERR_LEASE_WATCHED');
  }

  /** Of this instance's data, and of no other that has taken its place. */
  async #read<T>(command: () => Promise<T>): Promise<T> {
    const reading = () => Promise.all([command(), this.#redis.get(this.#keys.logId)]);
    const [answer, data] = await this.#track(reading).catch((error: unknown) => {
      throw isAgentReachError(error) ? error : storeUnavailable(redisFailure(this.link.place, error), error);
    });
    if (data !== this.log.id) throw storeUnavailable(OTHER_DATA);
    return answer;
  }

  /** `close` waits for it. */
  async #track<T>(work: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    const answer = work();
    this.#inFlight.add(answer);
    try {
      return await answer;
    } finally {
      this.#inFlight.delete(answer);
    }
  }

  #openedRows(table: TableName): ReadonlyMap<string, Buffer> | undefined {
    this.#assertOpen();
    return this.#opened.tables.rows(table);
  }

  #noteOpened(writes: readonly TableWrite[], position: number, entry: Buffer): void {
    const logged = writes.filter(({ table }) => LOGGED_TABLES.has(table));
    this.log.skip(position, logged, entry);
    this.#opened.tables.note(logged);
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }
}

const copyOf = (bytes: Buffer | undefined): Buffer | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes);
