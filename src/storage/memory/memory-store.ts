/**
 * A store that lives as long as its object: for tests and for runs that keep nothing. Bytes are copied in and out,
 * so that it forgets and isolates exactly as a store on disk would.
 */
import { nextTurn } from '../../core/index.ts';
import {
  assertStorable,
  byKey,
  KEYS_A_SLICE,
  type KeyRange,
  type KeyValueStore,
  type RangedTable,
  STORE_CLOSED,
  storeClosed,
  type TableName,
  type TableWrite,
} from '../key-value-store.ts';

export class MemoryStore implements KeyValueStore {
  readonly #tables = new Map<TableName, Map<string, Uint8Array>>();
  #isClosed = false;

  get problem(): string | null {
    return this.#isClosed ? STORE_CLOSED : null;
  }

  async get(table: TableName, key: string): Promise<Uint8Array | undefined> {
    return copyOf(this.#table(table).get(key));
  }

  async getMany(table: TableName, keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    const rows = this.#table(table);
    return keys.map((key) => copyOf(rows.get(key)));
  }

  async entries(table: TableName): Promise<(readonly [string, Uint8Array])[]> {
    return [...this.#table(table)].map(([key, value]) => [key, new Uint8Array(value)] as const).sort(byKey);
  }

  async *keys(table: TableName): AsyncGenerator<readonly string[], undefined> {
    const all = [...this.#table(table).keys()];
    for (let from = 0; from < all.length; from += KEYS_A_SLICE) {
      yield all.slice(from, from + KEYS_A_SLICE);
      await nextTurn();
    }
    return undefined;
  }

  async range(table: RangedTable, range: KeyRange): Promise<(readonly [string, Uint8Array])[]> {
    const { before } = range;
    const rows = (await this.entries(table)).filter(([key]) => before === undefined || key < before);
    return (range.isReverse === true ? rows.reverse() : rows).slice(0, range.limit);
  }

  async commit(writes: readonly TableWrite[]): Promise<void> {
    assertStorable(writes);
    for (const { table, key, value } of writes) {
      if (value === null) this.#table(table).delete(key);
      else this.#table(table).set(key, new Uint8Array(value));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #table(name: TableName): Map<string, Uint8Array> {
    if (this.#isClosed) throw storeClosed();
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new Map();
      this.#tables.set(name, table);
    }
    return table;
  }
}

/** Not `slice`: on a Buffer that is a view of the same bytes. */
function copyOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : new Uint8Array(bytes);
}
