/**
 * Copies everything that one store holds into another one, then reads the copy back and compares counts and digests.
 * Nothing may run on either of them meanwhile. Files of index versions stay in their folder.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AgentReachError } from '../core/index.ts';
import { REDIS_URL_FORM, readRedisAddress } from '../redis/index.ts';
import {
  driftKeyOf,
  type KeyValueStore,
  LmdbStore,
  RedisStore,
  TABLES,
  type TableName,
  type TableWrite,
} from '../storage/index.ts';
import { dataDirId } from './data-dir-id.ts';

export interface MigrationRequest {
  /** `lmdb:DIR`, or an address of Redis as REDIS_URL takes it. */
  readonly from: string;
  readonly to: string;
  /** Removes what the target holds; without it a target that holds anything is refused. */
  readonly force: boolean;
  /** Of the keys in Redis. Default: that of the configuration. */
  readonly prefix?: string | undefined;
  readonly onProgress?: (table: string, rows: number) => void;
}

export interface MigrationReport {
  readonly rows: Readonly<Record<string, number>>;
  readonly total: number;
  /** Of all rows, the same in both stores. */
  readonly digest: string;
}

type Place =
  | { readonly kind: 'lmdb'; readonly dir: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix?: string };

const ROWS_A_COMMIT = 250;
const SCHEMA = 'schema';
/** Written to the target for a moment: a source that holds it too is the same store under another name. */
const MARK = 'migration_mark';

/** Errors: AR_ERR_INVALID_REQUEST, AR_ERR_STORE_IN_USE, AR_ERR_STORE_UNAVAILABLE. */
export async function migrateStore({
  from,
  to,
  force,
  prefix,
  onProgress,
}: MigrationRequest): Promise<MigrationReport> {
  const [source, target] = [readPlace(from, 'from', prefix), readPlace(to, 'to', prefix)];
  assertThere(source);
  const read = await open(source);
  let copied: MigrationReport;
  try {
    await assertFilled(read);
    const written = await open(target);
    try {
      await assertOther(read, written);
      await makeRoom(written, force);
      copied = await walk(read, keyMap(source, target), async (table, rows) => {
        await written.commit(rows);
        onProgress?.(table, rows.length);
      });
    } finally {
      await written.close();
    }
  } finally {
    await read.close();
  }
  const found = await digestOf(target);
  if (found.digest === copied.digest && found.total === copied.total) return copied;
  throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE', {
    detail: `the copy holds ${found.total} rows and is not what was read (${copied.total} rows): it must not be used`,
  });
}

async function digestOf(place: Place): Promise<MigrationReport> {
  // Opened anew: what is read is what is stored, not what was just written.
  const store = await open(place);
  try {
    return await walk(
      store,
      (_table, key) => key,
      async () => undefined,
    );
  } finally {
    await store.close();
  }
}

async function walk(
  store: KeyValueStore,
  keyIn: (table: TableName, key: string) => string | null,
  take: (table: TableName, rows: readonly TableWrite[]) => Promise<void>,
): Promise<MigrationReport> {
  const rows: Record<string, number> = {};
  // Of each row by itself and joined by XOR: stores hand rows out in orders of their own.
  const digest = Buffer.alloc(32);
  let total = 0;
  for (const table of TABLES) {
    rows[table] = 0;
    for await (const slice of store.keys(table)) {
      for (let from = 0; from < slice.length; from += ROWS_A_COMMIT) {
        const keys = slice.slice(from, from + ROWS_A_COMMIT);
        const values = await store.getMany(table, keys);
        const found = keys.flatMap((key, i): TableWrite[] => {
          const [value, as] = [values[i], keyIn(table, key)];
          return value === undefined || as === null || isOwn(table, key) ? [] : [{ table, key: as, value }];
        });
        for (const { key, value } of found) xor(digest, table, key, value ?? new Uint8Array());
        if (found.length > 0) await take(table, found);
        rows[table] += found.length;
        total += found.length;
      }
    }
  }
  return { rows, total, digest: digest.toString('hex') };
}

/** Each store's own, which is no part of what it holds. */
const isOwn = (table: TableName, key: string): boolean => table === 'meta' && (key === SCHEMA || key.startsWith(MARK));

function xor(digest: Buffer, table: string, key: string, value: Uint8Array): void {
  const row = createHash('sha256')
    .update(JSON.stringify([table, key]))
    .update(value)
    .digest();
  for (let i = 0; i < digest.length; i++) digest[i] = (digest[i] ?? 0) ^ (row[i] ?? 0);
}

/** Opening a folder that is not there would make one. */
function assertThere(place: Place): void {
  if (place.kind === 'lmdb' && !existsSync(join(place.dir, 'store'))) {
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: `--from: there is no store in ${place.dir}` });
  }
}

/** An empty source is a mistyped one: with `force` it would empty the target. */
async function assertFilled(source: KeyValueStore): Promise<void> {
  for (const table of TABLES) {
    for await (const slice of source.keys(table)) if (slice.some((key) => !isOwn(table, key))) return;
  }
  throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: '--from holds nothing' });
}

async function assertOther(source: KeyValueStore, target: KeyValueStore): Promise<void> {
  const key = `${MARK}:${randomUUID()}`;
  await target.commit([{ table: 'meta', key, value: Uint8Array.of(1) }]);
  let isSame = false;
  // Values may be those of when the source was opened; keys are those of now.
  for await (const slice of source.keys('meta')) isSame ||= slice.includes(key);
  await target.commit([{ table: 'meta', key, value: null }]);
  if (isSame) throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: '--from and --to are the same store' });
}

async function makeRoom(target: KeyValueStore, force: boolean): Promise<void> {
  for (const table of TABLES) {
    for await (const slice of target.keys(table)) {
      const keys = slice.filter((key) => !isOwn(table, key));
      if (keys.length === 0) continue;
      if (!force) {
        throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
          detail: 'the target holds data already: use an empty one, or --force to remove what it holds',
        });
      }
      await target.commit(keys.map((key) => ({ table, key, value: null })));
    }
  }
}

/**
 * The key in the target, null where the row stays behind. Index versions, and what holds one of them, are of a folder or
 * of a Redis: they go along to one of the same kind. So does drift, but for that which the instance of the folder
 * counted itself: on a Redis it stands under the folder's id.
 */
function keyMap(source: Place, target: Place): (table: TableName, key: string) => string | null {
  const folder = source.kind === 'lmdb' ? source : target;
  if (source.kind === target.kind || folder.kind !== 'lmdb') return (_table, key) => key;
  const named = driftKeyOf(dataDirId(folder.dir));
  const [drift, driftThere] = folder === source ? [driftKeyOf(), named] : [named, driftKeyOf()];
  return (table, key) => {
    if (table === 'index_versions') return null;
    if (table !== 'meta') return key;
    if (key === drift) return driftThere;
    return /^(index_hold|index_manifest|drift)(:|$)/.test(key) ? null : key;
  };
}

async function open(place: Place): Promise<KeyValueStore> {
  if (place.kind === 'lmdb') return LmdbStore.open({ dataDir: place.dir });
  const { url, prefix } = place;
  const store = await RedisStore.open(prefix === undefined ? { url } : { url, prefix });
  // Every service that runs on a Redis has a sweeper among its instances.
  const { redis, keys } = store.link;
  if ((await redis.exists(keys.sweeper)) === 0) return store;
  await store.close();
  throw new AgentReachError('AR_ERR_STORE_IN_USE', { detail: 'an instance runs on this Redis: stop it first' });
}

function readPlace(text: string, option: string, prefix: string | undefined): Place {
  if (readRedisAddress(text) !== null) return { kind: 'redis', url: text, ...(prefix === undefined ? {} : { prefix }) };
  const dir = /^lmdb:(.+)$/.exec(text)?.[1];
  if (dir !== undefined) return { kind: 'lmdb', dir: resolve(dir) };
  throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
    detail: `--${option} must be lmdb:DIR or ${REDIS_URL_FORM}`,
  });
}
