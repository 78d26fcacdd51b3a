/** Entries of the log as bytes: one line of JSON that says what follows, then the values one after another. */
import type { TableName } from '../key-value-store.ts';
import type { LoggedWrite } from '../shared-log.ts';

export interface EntryBody {
  /** The instance that made it, and its own number for it. */
  readonly by: string;
  readonly number: number;
  readonly writes: readonly LoggedWrite[];
}

type Row = readonly [table: TableName, key: string, size: number, note?: string];
type Head = readonly [by: string, number: number, writes: readonly Row[]];
const REMOVED = -1;
const UNTOLD = -2;

export function encodeEntry({ by, number, writes }: EntryBody): Buffer {
  const values: Uint8Array[] = [];
  const rows = writes.map(({ table, key, value, note }): Row => {
    if (value !== null && value !== undefined) values.push(value);
    const size = value === null ? REMOVED : value === undefined ? UNTOLD : value.byteLength;
    return note === undefined ? [table, key, size] : [table, key, size, note];
  });
  const head: Head = [by, number, rows];
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...values]);
}

/** Of bytes that `encodeEntry` made; throws for others. */
export function decodeEntry(bytes: Buffer): EntryBody {
  let at = bytes.indexOf(10);
  const [by, number, rows] = JSON.parse(bytes.toString('utf8', 0, at)) as Head;
  at += 1;
  const writes = rows.map(([table, key, size, note]): LoggedWrite => {
    if (size < 0) return { table, key, value: size === REMOVED ? null : undefined, note };
    const value = bytes.subarray(at, at + size);
    at += size;
    return { table, key, value, note };
  });
  return { by, number, writes };
}
