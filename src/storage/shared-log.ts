/**
 * What a store that several instances share offers beside its tables: the one order of all commits. Each instance
 * holds the whole state in memory as the fold of this log, its own commits in their place among those of the others.
 */
import type { TableName } from './key-value-store.ts';

export interface LoggedWrite {
  readonly table: TableName;
  readonly key: string;
  /** null: removed. undefined: changed, and to be read from its table. */
  readonly value: Uint8Array | null | undefined;
  /** Why. Alone, without a value: told, and stored nowhere. */
  readonly note?: string | undefined;
}

export interface LogEntry {
  /** Rises by one from entry to entry. */
  readonly position: number;
  /** Epoch milliseconds of the store's clock. */
  readonly at: number;
  /** Made by this instance: memory has it already. */
  readonly isOwn: boolean;
  /** What lies between was lost to this instance: the writes are the whole difference. */
  readonly isAfterGap: boolean;
  readonly writes: readonly LoggedWrite[];
}

export interface LogFollower {
  /**
   * Called for each entry in order, the next one after this has ended. After AR_ERR_STORE_UNAVAILABLE it is called again
   * with the same; any other failure is logged, its rows are handed over anew one by one, and the log goes on: an
   * entry that no instance can take in must not stop all of them.
   */
  onEntry(entry: LogEntry): void | Promise<void>;
  /** A batch of another instance's heartbeats, as it was sent. */
  onBeats(batch: string): void;
}

export interface SharedLog {
  /** Names the data: another name, other data. */
  readonly id: string;
  /** Of the newest entry that memory has taken in. */
  readonly position: number;
  /** Since when nothing was heard of the others, in milliseconds; null while all is heard. */
  readonly staleMs: number | null;
  /** Hands over everything after what the tables held when the store was opened; once. */
  follow(follower: LogFollower): void;
}
