/**
 * The store in Redis: one hash a table, each commit one script, one owner at a time. The owner holds a lease and
 * carries a fence number into every commit, so that a process that slept through the end of its lease can write
 * nothing once another has taken over. Reads and commits fail at once while the connection is down.
 *
 * Weaker than the port in one point: of a commit whose connection broke before the answer, nobody knows whether it
 * was stored. It survives the death of this process; that of Redis as far as Redis is configured to (appendfsync).
 */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import {
  AgentReachError,
  type CancelTimer,
  type Clock,
  errorText,
  log,
  nextTurn,
  systemClock,
} from '../../core/index.ts';
import {
  assertStorable,
  byKey,
  KEYS_A_SLICE,
  type KeyRange,
  type KeyValueStore,
  RANGED_TABLES,
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
import { connectRedis, placeOf } from './redis-connection.ts';
import { FENCE_KEY, OWNER_KEY, orderKey, tableKey } from './redis-key-names.ts';
import { ACQUIRE, COMMIT, RELEASE, RENEW } from './redis-scripts.ts';

/** How long a killed owner keeps the next one waiting; four renewals may fail before it lapses. */
const DEFAULT_LEASE_MS = 10_000;
const RENEWALS_PER_LEASE = 4;
/** Fields asked for at once: bounds the arguments of one call. */
const MAX_FIELDS = 5_000;

export interface RedisStoreOptions {
  /** redis://[user:password@]host[:port][/database], or rediss:// */
  readonly url: string;
  readonly clock?: Clock;
  readonly leaseMs?: number;
  /** Owned as the embedded store owns it, until `close`: index versions lie there whatever holds the rest. */
  readonly dataDir?: string;
}

interface Lease {
  readonly token: string;
  readonly fence: number;
  readonly leaseMs: number;
}

export class RedisStore implements KeyValueStore {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #lease: Lease;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #lock: DirectoryLock | undefined;
  #cancelRenewal: CancelTimer = () => undefined;
  #closing: Promise<void> | undefined;
  #lossProblem: string | null = null;

  private constructor(redis: Redis, clock: Clock, held: { readonly lease: Lease; readonly lock?: DirectoryLock }) {
    this.#redis = redis;
    this.#clock = clock;
    this.#lease = held.lease;
    this.#lock = held.lock;
    this.#renewLater();
  }

  /**
   * Waits for the lease of an owner that was killed to lapse (at most `leaseMs`). Errors: AR_ERR_STORE_IN_USE as
   * soon as the owner is seen renewing; AR_ERR_STORE_UNAVAILABLE for a wrong address, password or version.
   */
  static async open(options: RedisStoreOptions): Promise<RedisStore> {
    const clock = options.clock ?? systemClock;
    const held = options.dataDir === undefined ? {} : { lock: await lockDataDir(options.dataDir) };
    try {
      return await RedisStore.#connect(options, clock, held);
    } catch (error) {
      await held.lock?.release();
      throw error;
    }
  }

  static async #connect(
    options: RedisStoreOptions,
    clock: Clock,
    held: { readonly lock?: DirectoryLock },
  ): Promise<RedisStore> {
    const redis = await connectRedis(options.url);
    const place = placeOf(options.url);
    let store: RedisStore | undefined;
    try {
      const lease = await acquire(redis, clock, options.leaseMs ?? DEFAULT_LEASE_MS, place);
      store = new RedisStore(redis, clock, { ...held, lease });
      await checkSchemaVersion(store, place);
      return store;
    } catch (error) {
      await store?.close();
      redis.disconnect();
      throw error instanceof AgentReachError
        ? error
        : storeUnavailable(`Redis at ${place}: ${errorText(error)}`, error);
    }
  }

  get problem(): string | null {
    if (this.#closing !== undefined) return STORE_CLOSED;
    return this.#lossProblem ?? (this.#redis.status === 'ready' ? null : 'Redis is not connected; trying again');
  }

  async get(table: TableName, key: string): Promise<Uint8Array | undefined> {
    const value = await this.#call(() => this.#redis.hgetBuffer(tableKey(table), key));
    return value ?? undefined;
  }

  async getMany(table: TableName, keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen();
    const found: (Uint8Array | undefined)[] = [];
    for (let from = 0; from < keys.length; from += MAX_FIELDS) {
      const fields = keys.slice(from, from + MAX_FIELDS);
      const values = await this.#call(() => this.#redis.hmgetBuffer(tableKey(table), ...fields));
      for (const value of values) found.push(value ?? undefined);
    }
    return found;
  }

  async entries(table: TableName): Promise<(readonly [string, Uint8Array])[]> {
    const rows = await this.#call(() => this.#redis.hgetallBuffer(tableKey(table)));
    return Object.entries(rows).sort(byKey);
  }

  async *keys(table: TableName): AsyncGenerator<readonly string[], undefined> {
    // HSCAN would send every value too; 100,000 keys are 10 MB.
    const all = await this.#call(() => this.#redis.hkeys(tableKey(table)));
    for (let from = 0; from < all.length; from += KEYS_A_SLICE) {
      yield all.slice(from, from + KEYS_A_SLICE);
      await nextTurn();
    }
    return undefined;
  }

  async range(table: RangedTable, range: KeyRange): Promise<(readonly [string, Uint8Array])[]> {
    const top = range.before === undefined ? '+' : `(${range.before}`;
    const keys = await this.#call(() =>
      range.isReverse === true
        ? this.#redis.zrevrangebylex(orderKey(table), top, '-', 'LIMIT', 0, range.limit)
        : this.#redis.zrangebylex(orderKey(table), '-', top, 'LIMIT', 0, range.limit),
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
    const keys = writes.map(({ table }) => tableKey(table));
    const args = writes.flatMap(({ table, key, value }) => {
      const isRanged = RANGED_TABLES.has(table);
      if (value === null) return [isRanged ? '2' : '0', key, ''];
      return [isRanged ? '3' : '1', key, Buffer.from(value.buffer, value.byteOffset, value.byteLength)];
    });
    const { fence } = this.#lease;
    const answer = await this.#call(() =>
      this.#redis.eval(COMMIT, keys.length + 1, FENCE_KEY, ...keys, String(fence), ...args),
    );
    this.#lossProblem = lossOf(answer);
    if (this.#lossProblem !== null) throw new AgentReachError('AR_ERR_STORE_IN_USE', { detail: this.#lossProblem });
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#cancelRenewal();
      await Promise.allSettled(this.#inFlight);
      // Left to lapse where Redis cannot be told.
      await this.#redis.eval(RELEASE, 1, OWNER_KEY, this.#lease.token).catch(() => undefined);
      this.#redis.disconnect();
      await this.#lock?.release();
    })();
    return this.#closing;
  }

  async #call<T>(command: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    const answer = command();
    this.#inFlight.add(answer);
    try {
      return await answer;
    } catch (error) {
      throw storeUnavailable(`Redis did not answer: ${errorText(error)}`, error);
    } finally {
      this.#inFlight.delete(answer);
    }
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }

  #renewLater(): void {
    const { leaseMs } = this.#lease;
    this.#cancelRenewal = this.#clock.schedule(leaseMs / RENEWALS_PER_LEASE, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { token, fence, leaseMs } = this.#lease;
    try {
      const answer = await this.#redis.eval(RENEW, 2, OWNER_KEY, FENCE_KEY, token, String(leaseMs), String(fence));
      this.#lossProblem = lossOf(answer);
      if (this.#lossProblem !== null) {
        log('error', 'nothing is stored any more', { fence, reason: this.#lossProblem });
        return;
      }
    } catch (error) {
      log('warn', 'the lease on the store was not renewed; trying again', { reason: errorText(error) });
    }
    if (this.#closing === undefined) this.#renewLater();
  }
}

/** What a script's answer says of our ownership; null while it lasts. */
function lossOf(answer: unknown): string | null {
  if (answer === 1) return null;
  return answer === -1
    ? 'Redis lost its data: restart this one to go on'
    : 'another process has taken the store over: restart this one to go on';
}

/** An owner whose time left goes up is alive; one whose time left runs down was killed. */
async function acquire(redis: Redis, clock: Clock, leaseMs: number, place: string): Promise<Lease> {
  const token = randomBytes(16).toString('hex');
  let leastLeftMs = Number.POSITIVE_INFINITY;
  for (;;) {
    const answer = Number(await redis.eval(ACQUIRE, 2, OWNER_KEY, FENCE_KEY, token, String(leaseMs)));
    if (answer > 0) return { token, fence: answer, leaseMs };
    const leftMs = -answer;
    if (leftMs > leastLeftMs) {
      throw new AgentReachError('AR_ERR_STORE_IN_USE', {
        detail: `another process owns the data in Redis at ${place}: stop it, or use another database`,
      });
    }
    leastLeftMs = leftMs;
    const waitMs = Math.min(leftMs + 1, leaseMs / RENEWALS_PER_LEASE);
    await new Promise<void>((resolve) => void clock.schedule(waitMs, resolve));
  }
}
