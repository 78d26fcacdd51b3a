/** The golden set over any key-value store: one JSON record a line, under its id. */
import type { GoldenLine } from '../contract/index.ts';
import type { GoldenStore } from '../routing/index.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';
import type { LoggedWrite } from './shared-log.ts';

const SHAPE: RecordShape = { id: 'string', text: 'string', namespace: 'string' };

export class KeyValueGoldenStore implements GoldenStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async load(): Promise<GoldenLine[]> {
    const rows = await this.#store.entries('golden');
    return rows.flatMap(([key, bytes]) => decodeRecord<GoldenLine>('golden', key, bytes, SHAPE) ?? []);
  }

  async commit(change: { readonly put?: readonly GoldenLine[]; readonly remove?: readonly string[] }): Promise<void> {
    const writes: TableWrite[] = [];
    for (const line of change.put ?? []) writes.push({ table: 'golden', key: line.id, value: encodeRecord(line) });
    for (const id of change.remove ?? []) writes.push({ table: 'golden', key: id, value: null });
    if (writes.length > 0) await this.#store.commit(writes);
  }
}

/** What an entry of the log changes in the golden set. */
export function goldenChangeOf(writes: readonly LoggedWrite[]): { put: GoldenLine[]; remove: string[] } {
  const put: GoldenLine[] = [];
  const remove: string[] = [];
  for (const { table, key, value } of writes) {
    if (table !== 'golden' || value === undefined) continue;
    const line = value === null ? undefined : decodeRecord<GoldenLine>('golden', key, value, SHAPE);
    if (line !== undefined) put.push(line);
    else if (value === null) remove.push(key);
  }
  return { put, remove };
}
