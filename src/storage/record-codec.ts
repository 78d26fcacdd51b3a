/**
 * Records as JSON bytes, and back with a light check of the fields that the service cannot run without. A record
 * that cannot be read is logged by table and key and left out: one bad record never stops a start.
 */
import { errorText, log } from '../core/index.ts';
import type { TableName } from './key-value-store.ts';

type FieldKind = 'string' | 'number' | 'boolean' | 'object' | 'array';
export type RecordShape = Readonly<Record<string, FieldKind>>;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export function encodeRecord(record: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(record));
}

function kindOf(value: unknown): FieldKind | 'other' {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'other';
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : 'other';
  const kind = typeof value;
  return kind === 'string' || kind === 'boolean' || kind === 'object' ? kind : 'other';
}

/** What keeps the value from being a record of this shape, in words; undefined where nothing does. */
function flawOf(value: unknown, shape: RecordShape): string | undefined {
  if (kindOf(value) !== 'object') return 'is not an object';
  const fields = value as Record<string, unknown>;
  for (const [name, kind] of Object.entries(shape)) {
    if (kindOf(fields[name]) !== kind) return `field ${name} is not a ${kind}`;
  }
  return undefined;
}

/** The record, or undefined (logged) where the bytes do not hold one. `Record` is trusted beyond `shape`. */
export function decodeRecord<Record>(
  table: TableName,
  key: string,
  bytes: Uint8Array,
  shape: RecordShape,
): Record | undefined {
  let flaw: string | undefined;
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    flaw = flawOf(value, shape);
    if (flaw === undefined) return value as Record;
  } catch (error) {
    flaw = errorText(error);
  }
  log('error', 'a stored record cannot be read and is left out', { table, key, reason: flaw });
  return undefined;
}
