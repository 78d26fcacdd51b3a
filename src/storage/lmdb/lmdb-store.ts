/**
 * The embedded store: one lmdb environment in `<dataDir>/store`, one named database a table. A commit resolves after
 * the fsync of its transaction; everything committed while one fsync runs shares the next. Measured: one commit
 * alone costs an fsync, thousands in flight cost a few.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { type AgentReachError, errorText, isAgentReachError, nextTurn } from '../../core/index.ts';
import {
  assertStorable,
  byKey,
  KEYS_A_SLICE,
  type KeyRange,
  type KeyValueStore,
  type RangedTable,
  STORE_CLOSED,
  storeClosed,
  storeUnavailable,
  TABLES,
  type TableName,
  type TableWrite,
} from '../key-value-store.ts';
import { checkSchemaVersion } from '../schema-version.ts';
import { lockDataDir } from './data-dir.ts';
import type { DirectoryLock } from './directory-lock.ts';
import { DiskSpace, type FreeBytes } from './disk-space.ts';
import { flawOfLmdbFile } from './lmdb-file.ts';

/** Made beside data.mdb once that holds something, so that an empty data.mdb can be told from a new one. */
const MARKER = 'has-data';

type Table = Database<Buffer, string>;

export class LmdbStore implements KeyValueStore {
  readonly #environment: RootDatabase<Buffer, string>;
  readonly #tables: ReadonlyMap<TableName, Table>;
  readonly #lock: DirectoryLock;
  readonly #space: DiskSpace;
  #closing: Promise<void> | undefined;
  #isClaimDue = false;
  #commitProblem: string | null = null;

  private constructor(
    environment: RootDatabase<Buffer, string>,
    tables: ReadonlyMap<TableName, Table>,
    lock: DirectoryLock,
    space: DiskSpace,
  ) {
    this.#environment = environment;
    this.#tables = tables;
    this.#lock = lock;
    this.#space = space;
  }

  /**
   * Opens the store under `dataDir`, making the folder (mode 0700) where it is missing. Errors: AR_ERR_STORE_IN_USE
   * while another process has it open; AR_ERR_STORE_UNAVAILABLE where the folder cannot be used or was written by
   * another version.
   */
  static async open(options: { readonly dataDir: string; readonly freeBytes?: FreeBytes }): Promise<LmdbStore> {
    const dataDir = resolve(options.dataDir);
    const folder = join(dataDir, 'store');
    const lock = await lockDataDir(dataDir, folder);
    let environment: RootDatabase<Buffer, string> | undefined;
    try {
      environment = openEnvironment(folder);
      const store = new LmdbStore(
        environment,
        openTables(environment, folder),
        lock,
        new DiskSpace(folder, options.freeBytes),
      );
      await checkSchemaVersion(store, dataDir);
      markAsUsed(folder);
      return store;
    } catch (error) {
      await environment?.close();
      await lock.release();
      throw error;
    }
  }

  get problem(): string | null {
    return this.#closing === undefined ? this.#commitProblem : STORE_CLOSED;
  }

  async get(table: TableName, key: string): Promise<Uint8Array | undefined> {
    return this.#read(table, (rows) => rows.get(key));
  }

  async getMany(table: TableName, keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#read(table, (rows) => keys.map((key) => rows.get(key)));
  }

  async entries(table: TableName): Promise<(readonly [string, Uint8Array])[]> {
    return this.#read(table, (rows) => {
      const found = [...rows.getRange()].map(({ key, value }) => [key, value] as const);
      // A damaged page ends the walk as if the table ended there.
      const { entryCount } = rows.getStats() as { readonly entryCount: number };
      if (found.length !== entryCount) throw storeUnavailable(damaged(table, `${found.length} of ${entryCount} rows`));
      return found.sort(byKey);
    });
  }

  async *keys(table: TableName): AsyncGenerator<readonly string[], undefined> {
    let last: string | undefined;
    for (;;) {
      // lmdb takes its start in: one more makes up for it. A key that went meanwhile is stepped over all the same.
      const options = last === undefined ? { limit: KEYS_A_SLICE } : { limit: KEYS_A_SLICE + 1, start: last };
      const found = this.#read(table, (rows) => [...rows.getKeys(options)]);
      const slice = found.filter((key) => key !== last);
      if (slice.length === 0) return undefined;
      yield slice;
      last = slice.at(-1);
      await nextTurn();
    }
  }

  async range(table: RangedTable, range: KeyRange): Promise<(readonly [string, Uint8Array])[]> {
    const { before, limit } = range;
    if (range.isReverse !== true) {
      const options = before === undefined ? { limit } : { limit, end: before };
      return this.#read(table, (rows) => [...rows.getRange(options)].map(({ key, value }) => [key, value] as const));
    }
    // Downwards lmdb takes its start in; one row more makes up for the one left out.
    const options =
      before === undefined ? { limit, reverse: true } : { limit: limit + 1, reverse: true, start: before };
    const found = this.#read(table, (rows) => [...rows.getRange(options)]);
    return found
      .filter(({ key }) => key !== before)
      .slice(0, limit)
      .map(({ key, value }) => [key, value] as const);
  }

  async commit(writes: readonly TableWrite[]): Promise<void> {
    this.#assertOpen();
    assertStorable(writes);
    try {
      await this.#space.within(bytesOf(writes), () => this.#commit(writes));
      this.#commitProblem = null;
    } catch (error) {
      if (isAgentReachError(error)) {
        this.#commitProblem = error.message;
        throw error;
      }
      this.#commitProblem = `lmdb could not commit: ${await commitFailure(error)}`;
      throw storeUnavailable(this.#commitProblem, error);
    }
  }

  async #commit(writes: readonly TableWrite[]): Promise<void> {
    this.#claimCommits();
    const committed = this.#environment.batch(() => {
      for (const { table, key, value } of writes) {
        // Inside a batch lmdb answers these with one settled promise; the batch's own promise tells the outcome.
        if (value === null) void this.#table(table).remove(key);
        else void this.#table(table).put(key, asBuffer(value));
      }
    });
    this.#claimAtTurnEnd();
    await committed;
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      // lmdb's close waits for the transactions in flight.
      await this.#environment.close();
      await this.#lock.release();
    })();
    return this.#closing;
  }

  /**
   * lmdb opens each turn of the loop with a write of its own, whose promise it keeps to itself: on a full disk that one
   * rejects too and, unseen, would end the process. Claimed here, it is ours: at the end of the turn, where it is made,
   * and before the next write, which replaces it.
   */
  #claimCommits(): void {
    this.#environment.committed.then(ignore, ignore);
  }

  /** To be called after a write, which asks for lmdb's own end of the turn: immediates run in order. */
  #claimAtTurnEnd(): void {
    if (this.#isClaimDue) return;
    this.#isClaimDue = true;
    setImmediate(() => {
      this.#isClaimDue = false;
      this.#claimCommits();
    });
  }

  #read<T>(table: TableName, read: (rows: Table) => T): T {
    this.#assertOpen();
    try {
      // Without this a read may see a snapshot older than a commit that has just resolved.
      this.#environment.resetReadTxn();
      return read(this.#table(table));
    } catch (error) {
      if (isAgentReachError(error)) throw error;
      throw storeUnavailable(readFailure(table, error), error);
    }
  }

  #table(name: TableName): Table {
    const table = this.#tables.get(name);
    if (table === undefined) throw storeUnavailable(`the store has no table ${name}`);
    return table;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }
}

/** lmdb's words for pages that are not what they must be. */
const DAMAGE = /MDB_(?:CORRUPTED|PAGE_NOTFOUND|INVALID|PANIC)/;

function readFailure(table: TableName, error: unknown): string {
  const text = errorText(error);
  return DAMAGE.test(text) ? damaged(table, text) : `lmdb could not read table ${table}: ${text}`;
}

function damaged(table: TableName, what: string): string {
  return `the data file store/data.mdb is damaged (table ${table}: ${what}): restore it, or move it away to start empty`;
}

function markAsUsed(folder: string): void {
  const path = join(folder, MARKER);
  if (existsSync(path)) return;
  try {
    writeFileSync(path, 'data.mdb holds data: agent-reach refuses to start should it ever be empty.\n');
  } catch (error) {
    throw storeUnavailable(`cannot write ${path}: ${errorText(error)}`, error);
  }
}

function openEnvironment(folder: string): RootDatabase<Buffer, string> {
  try {
    const flaw = flawOfLmdbFile(join(folder, 'data.mdb'), existsSync(join(folder, MARKER)));
    if (flaw !== undefined) throw new Error(`data.mdb: ${flaw}`);
    return open<Buffer, string>({
      path: folder,
      // Without it a folder whose name holds a dot would be taken for a file.
      noSubdir: false,
      encoding: 'binary',
      maxDbs: TABLES.length,
      // On, a write is answered when visible and flushed later; off, the answer comes after the flush.
      overlappingSync: false,
    });
  } catch (error) {
    throw cannotOpen(folder, error);
  }
}

function openTables(environment: RootDatabase<Buffer, string>, folder: string): ReadonlyMap<TableName, Table> {
  try {
    return new Map(
      TABLES.map((name) => [name, environment.openDB<Buffer, string>({ name, encoding: 'binary' })] as const),
    );
  } catch (error) {
    throw cannotOpen(folder, error);
  }
}

function cannotOpen(folder: string, error: unknown): AgentReachError {
  return storeUnavailable(
    `the store in ${folder} cannot be opened (${errorText(error)}): restore it, or move the folder away to start empty`,
    error,
  );
}

function bytesOf(writes: readonly TableWrite[]): number {
  return writes.reduce((sum, { key, value }) => sum + key.length + (value?.byteLength ?? 0), 0);
}

function ignore(): void {}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** lmdb hides the true reason in a second promise, which would also crash the process if nobody looked at it. */
async function commitFailure(error: unknown): Promise<string> {
  const hidden = (error as { commitError?: Promise<unknown> } | null)?.commitError;
  if (hidden === undefined) return errorText(error);
  return hidden.then(() => errorText(error), errorText);
}
