/** Audit records over any key-value store: one JSON row each under a rising key, added and in the end dropped, never put twice. */
import type { AuditRecord } from '../contract/index.ts';
import type { AuditStore, StoredAudit } from '../rules/index.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const SHAPE: RecordShape = {
  seq: 'number',
  at: 'string',
  requestId: 'string',
  keyId: 'string',
  namespace: 'string',
  capability: 'string',
  outcome: 'string',
  rulesVersion: 'number',
};

export class KeyValueAuditStore implements AuditStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async append({ key, record }: StoredAudit): Promise<void> {
    await this.#store.commit([{ table: 'audit', key, value: encodeRecord(record), isNew: true }]);
  }

  async newest(limit: number, before?: string): Promise<{ entries: StoredAudit[]; lastKey: string | null }> {
    const rows = await this.#store.range('audit', {
      limit,
      isReverse: true,
      ...(before === undefined ? {} : { before }),
    });
    const entries = rows.flatMap(([key, bytes]) => {
      const record = decodeRecord<AuditRecord>('audit', key, bytes, SHAPE);
      return record === undefined ? [] : [{ key, record }];
    });
    return { entries, lastKey: rows.at(-1)?.[0] ?? null };
  }

  async dropBefore(key: string, limit: number): Promise<number> {
    const rows = await this.#store.range('audit', { limit, before: key });
    if (rows.length > 0) await this.#store.commit(rows.map(([old]) => ({ table: 'audit', key: old, value: null })));
    return rows.length;
  }
}
