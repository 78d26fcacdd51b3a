/**
 * All tables that instances hold in memory, of one moment, with the position of the log at that moment: what a start
 * loads, and what an instance compares itself with that has lost its place in the log.
 */
import { createHash } from 'node:crypto';
import type { Redis, RedisKeys } from '../../redis/index.ts';
import { LOGGED_TABLES, type TableName } from '../key-value-store.ts';
import type { LoggedWrite } from '../shared-log.ts';

export interface Snapshot {
  /** Names the data; null where there is none. */
  readonly data: string | null;
  readonly position: number;
  /** Of the entry at that position; undefined where it is not kept. */
  readonly mark: string | undefined;
  readonly tables: ReadonlyMap<TableName, Map<string, Buffer>>;
}

/** Blocks Redis for as long as reading these tables takes: 10,000 agents are some 10 MB. */
export async function takeSnapshot(redis: Redis, keys: RedisKeys): Promise<Snapshot> {
  const names = [...LOGGED_TABLES];
  const reading = redis.multi().get(keys.logId).get(keys.position).xrevrangeBuffer(keys.changes, '+', '-', 'COUNT', 1);
  for (const name of names) reading.hgetallBuffer(keys.table(name));
  const [data, found, newest, ...rows] = ((await reading.exec()) ?? []).map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
  const position = Number(found ?? 0);
  const [entry] = newest as FoundEntry[];
  return {
    data: data as string | null,
    position,
    mark: entry !== undefined && positionOf(entry) === position ? markOf(entry) : undefined,
    tables: new Map(names.map((name, i) => [name, new Map(Object.entries(rows[i] as Record<string, Buffer>))])),
  };
}

/** An entry as Redis hands it over. */
export type FoundEntry = readonly [id: Buffer, fields: readonly Buffer[]];

export const positionOf = ([id]: FoundEntry): number => Number.parseInt(id.toString(), 10);

/** The bytes that `encodeEntry` made. */
export const bodyOf = ([, fields]: FoundEntry): Buffer => fields[3] ?? Buffer.alloc(0);

/** Tells an entry from another one of the same position. */
export const markOf = (entry: FoundEntry): string => digestOf(bodyOf(entry));

/** What this instance knows of the rows, 20 letters each: enough to tell which of them changed unseen. */
export class RowDigests {
  readonly #tables = new Map<TableName, Map<string, string>>();

  note({ table, key, value, note }: LoggedWrite): void {
    if (value === undefined && note !== undefined) return;
    const rows = this.#rows(table);
    if (value === null) rows.delete(key);
    else if (value === undefined) rows.set(key, '');
    else rows.set(key, digestOf(value));
  }

  /** The writes that lead from what is known to the snapshot. */
  differenceTo(snapshot: Snapshot): LoggedWrite[] {
    const writes: LoggedWrite[] = [];
    for (const [table, found] of snapshot.tables) {
      const known = this.#rows(table);
      for (const [key, value] of found) {
        if (known.get(key) !== digestOf(value)) writes.push({ table, key, value });
      }
      for (const key of known.keys()) if (!found.has(key)) writes.push({ table, key, value: null });
    }
    return writes;
  }

  #rows(table: TableName): Map<string, string> {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    return rows;
  }
}

export const digestOf = (value: Uint8Array): string => createHash('sha1').update(value).digest('base64').slice(0, 20);
