/**
 * The tables that instances hold in memory, of the moment when the store was opened and with this instance's own
 * commits since: what is loaded from them is where the log goes on. Kept no longer than until the log is followed.
 */
import type { TableName, TableWrite } from '../key-value-store.ts';
import type { Snapshot } from './redis-snapshot.ts';

export class OpeningTables {
  #tables: Snapshot['tables'];

  constructor({ tables }: Snapshot) {
    this.#tables = tables;
  }

  /** undefined for other tables, and for all of them once the log is followed. */
  rows(table: TableName): ReadonlyMap<string, Buffer> | undefined {
    return this.#tables.get(table);
  }

  note(writes: readonly TableWrite[]): void {
    for (const { table, key, value } of writes) {
      if (value === null) this.#tables.get(table)?.delete(key);
      else this.#tables.get(table)?.set(key, Buffer.from(value));
    }
  }

  drop(): void {
    this.#tables = new Map();
  }
}
