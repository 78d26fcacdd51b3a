/**
 * All tables that instances hold in memory, of one moment, with the position of the log at that moment: what a start
 * loads, and what an instance compares itself with that has lost its place in the log.
 */
import { createHash } from 'node:crypto';
import type { Redis, RedisKeys } from '../../redis/index.ts';
import { LOGGED_TABLES, type TableName } from '../key-value-store.ts';
import type { LoggedWrite } from '../shared-log.ts';

export interface Snapshot {
  readonly position: number;
  readonly tables: ReadonlyMap<TableName, ReadonlyMap<string, Buffer>>;
}

/** Blocks Redis for as long as reading these tables takes: 10,000 agents are some 10 MB. */
export async function takeSnapshot(redis: Redis, keys: RedisKeys): Promise<Snapshot> {
  const names = [...LOGGED_TABLES];
  const reading = redis.multi().get(keys.position);
  for (const name of names) reading.hgetallBuffer(keys.table(name));
  const [position, ...rows] = ((await reading.exec()) ?? []).map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
  return {
    position: Number(position ?? 0),
    tables: new Map(names.map((name, i) => [name, new Map(Object.entries(rows[i] as Record<string, Buffer>))])),
  };
}

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

  /** Takes the snapshot for what is known from now on; answers the writes that lead there. */
  moveTo(snapshot: Snapshot): LoggedWrite[] {
    const writes: LoggedWrite[] = [];
    for (const [table, found] of snapshot.tables) {
      const known = this.#rows(table);
      for (const [key, value] of found) {
        if (known.get(key) !== digestOf(value)) writes.push({ table, key, value });
      }
      for (const key of known.keys()) if (!found.has(key)) writes.push({ table, key, value: null });
    }
    for (const write of writes) this.note(write);
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

const digestOf = (value: Uint8Array): string => createHash('sha1').update(value).digest('base64').slice(0, 20);
