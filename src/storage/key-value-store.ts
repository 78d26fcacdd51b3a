/**
 * What every embedded or remote store offers to the domain stores of this room: tables of bytes by key, and one
 * atomic write. Not exported to other rooms as something to build on; they see AgentStore, RuleStore, VectorStore.
 */
import { AgentReachError } from '../core/index.ts';

export const TABLES = [
  'meta',
  'agents',
  'dictionary',
  'rules',
  'rule_history',
  'vectors',
  'golden',
  'feedback',
  'strategies',
  'audit',
  'index_versions',
] as const;
export type TableName = (typeof TABLES)[number];
/** Tables that may outgrow memory and are read in ranges; every store keeps the order of their keys. */
export const RANGED_TABLES: ReadonlySet<TableName> = new Set(['audit']);
export type RangedTable = 'audit';

export interface KeyRange {
  readonly limit: number;
  /** Keys under this one only. */
  readonly before?: string;
  /** From the highest key down. */
  readonly isReverse?: boolean;
}

export interface TableWrite {
  readonly table: TableName;
  readonly key: string;
  /** null removes the key; removing a key that is not there changes nothing. */
  readonly value: Uint8Array | null;
  /**
   * The writer found no such key. Where several instances share the store, one that is there by now refuses the commit
   * with AR_ERR_STORE_CONFLICT; a store of one owner does not look again.
   */
  readonly isNew?: true;
  /** Of an agent whose lease is over: where several instances share the store, refused unless its deadline says so. */
  readonly endsLease?: true;
  /** Why, for the log; no store keeps it beside the row. */
  readonly note?: string;
}

/** Tables that every instance holds in memory: a shared store tells each of what the others write to them. */
export const LOGGED_TABLES: ReadonlySet<TableName> = new Set([
  'meta',
  'agents',
  'dictionary',
  'rules',
  'golden',
  'feedback',
  'strategies',
]);

/**
 * `commit` is all or nothing, resolves once the writes would survive the death of the process, and commits take
 * effect in the order made; many in flight share one flush. The caller must not change the bytes it handed over
 * until then; bytes handed out are the caller's own. Reads see every commit that has resolved.
 * Error of every method, also after `close`: AR_ERR_STORE_UNAVAILABLE. A failed commit stored nothing; but for a store
 * over a network, whose answer may have been lost: then it stored all, this instance reads it in the log as what another
 * one did, and whoever asks again decides on that. A store that several instances share refuses a commit with AR_ERR_STORE_CONFLICT where another instance has changed one of its
 * rows after what this instance has read of the log; when that rejects, this instance has read it: decide again.
 */
export interface KeyValueStore {
  /** Why nothing can be stored now, in words; null while it can, as far as the last attempt told. */
  readonly problem: string | null;
  get(table: TableName, key: string): Promise<Uint8Array | undefined>;
  /** One answer for each key, in their order. */
  getMany(table: TableName, keys: readonly string[]): Promise<(Uint8Array | undefined)[]>;
  /** The whole table in ascending order of its keys: for tables that fit in memory. */
  entries(table: TableName): Promise<(readonly [key: string, value: Uint8Array])[]>;
  /**
   * Every key that stays in the table throughout, in slices, with turns of the event loop between them; the values are
   * not read. Commits may run meanwhile.
   */
  keys(table: TableName): AsyncIterable<readonly string[]>;
  /** Rows of an ordered table by key, ASCII keys only. */
  range(table: RangedTable, range: KeyRange): Promise<(readonly [key: string, value: Uint8Array])[]>;
  commit(writes: readonly TableWrite[]): Promise<void>;
  /** Waits for commits in flight, then frees the store for another owner. Calling it twice is harmless. */
  close(): Promise<void>;
}

/** Keys of one slice: removing as many rows takes some milliseconds. */
export const KEYS_A_SLICE = 1_000;

/** lmdb takes 1978 bytes; every store refuses at the same length, so that data can move between them. */
const MAX_KEY_BYTES = 1_024;

/** Refuses what some store could not keep, before any write of the batch has been handed over. */
export function assertStorable(writes: readonly TableWrite[]): void {
  for (const { table, key } of writes) {
    if (key !== '' && !key.includes('\0') && Buffer.byteLength(key) <= MAX_KEY_BYTES) continue;
    throw new AgentReachError('AR_ERR_INTERNAL', {
      detail: `a key of table ${table} is empty, holds a NUL or is over ${MAX_KEY_BYTES} bytes`,
    });
  }
}

export function storeUnavailable(detail: string, cause?: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_STORE_UNAVAILABLE', cause === undefined ? { detail } : { detail, cause });
}

export const STORE_CLOSED = 'the store is closed';

export function storeClosed(): AgentReachError {
  return storeUnavailable(STORE_CLOSED);
}

/** Code-unit order, which both lmdb's key order for our ASCII keys and a plain sort agree on. */
export function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}
