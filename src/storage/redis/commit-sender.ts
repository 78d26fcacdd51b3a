/**
 * A commit on its way to the script that checks and applies it. What is told of one that failed says whether it may
 * come to pass all the same: an answer can be lost, and a server that stood still takes in later what it was sent.
 */
import { COMMIT, isUnanswered, type RedisLink, redisFailure, type WriteWatch } from '../../redis/index.ts';
import { LOGGED_TABLES, RANGED_TABLES, storeUnavailable, type TableWrite } from '../key-value-store.ts';
import type { RedisLog } from './redis-log.ts';

const RECENT_ROWS = 20_000;

export interface CommitSenderParts {
  readonly link: RedisLink;
  readonly log: RedisLog;
  readonly writes: WriteWatch;
  /** Entries of the log that are kept, about. */
  readonly logEntries: number;
}

export interface CommitLimits {
  /** What arrives later does nothing. */
  readonly latestMs: number;
  /** Under which leases are ended. */
  readonly fence?: string | null;
}

export class CommitSender {
  readonly #parts: CommitSenderParts;

  constructor(parts: CommitSenderParts) {
    this.#parts = parts;
  }

  /** What the script answered, without the time. Error: AR_ERR_STORE_UNAVAILABLE. */
  async send(
    writes: readonly TableWrite[],
    entry: Buffer | '',
    { latestMs, fence = null }: CommitLimits,
  ): Promise<readonly [outcome: number, position: number]> {
    const { link, log, logEntries } = this.#parts;
    const { keys, clock, time } = link;
    const sentAt = clock.now();
    const names = [
      keys.logId,
      keys.position,
      keys.changes,
      keys.recent,
      keys.recentFloor,
      keys.deadlines,
      keys.fence,
      keys.leases,
    ];
    const read = log.isFollowing ? log.position : '';
    const until = time.in(latestMs, sentAt);
    const args: (string | number | Buffer)[] = [log.id, read, entry, logEntries, RECENT_ROWS, fence ?? '', until];
    for (const write of writes) {
      const { table, key, value } = write;
      names.push(keys.table(table));
      args.push(opOf(write), key, value === null ? '' : Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    }
    const [outcome = 0, position = 0, redisMs = 0] = await this.#eval(names, args, sentAt + latestMs);
    time.learn(redisMs, sentAt, clock.now());
    if (outcome === 1) this.#parts.writes.taken();
    return [outcome, position];
  }

  async #eval(
    names: readonly string[],
    args: readonly (string | number | Buffer)[],
    until: number,
  ): Promise<readonly number[]> {
    const { redis, place, clock } = this.#parts.link;
    const isConnected = redis.status === 'ready';
    try {
      return (await redis.eval(COMMIT, names.length, ...names, ...args)) as number[];
    } catch (error) {
      const reason = redisFailure(place, error);
      this.#parts.writes.failed(reason);
      const mayHappen = isConnected && isUnanswered(error);
      throw storeUnavailable(mayHappen ? unanswered(place, until - clock.now()) : reason, error);
    }
  }
}

function unanswered(place: string, leftMs: number): string {
  const orStill = leftMs > 0 ? `, or still be within ${Math.ceil(leftMs / 1_000)} s` : '';
  return `Redis at ${place} did not answer: the change may have been made${orStill}`;
}

/** The letters that the commit script reads. */
function opOf({ table, value, isNew, endsLease }: TableWrite): string {
  return [
    value === null ? 'd' : 'p',
    RANGED_TABLES.has(table) ? 'o' : '',
    LOGGED_TABLES.has(table) ? 'l' : '',
    isNew === true ? 'n' : '',
    endsLease === true ? 'e' : '',
    table === 'agents' ? 'a' : '',
  ].join('');
}
