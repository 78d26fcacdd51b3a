/** Feedback over any key-value store: one JSON record each. */
import type { FeedbackChange, FeedbackRecord, FeedbackStore } from '../registry/index.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const SHAPE: RecordShape = {
  id: 'string',
  status: 'string',
  namespace: 'string',
  intent: 'string',
  reports: 'number',
  createdAt: 'number',
  createdBy: 'string',
};

export class KeyValueFeedbackStore implements FeedbackStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async load(): Promise<FeedbackRecord[]> {
    const rows = await this.#store.entries('feedback');
    return rows.flatMap(([key, bytes]) => decodeRecord<FeedbackRecord>('feedback', key, bytes, SHAPE) ?? []);
  }

  async commit({ put = [], remove = [] }: FeedbackChange): Promise<void> {
    const writes: TableWrite[] = [
      ...put.map((record) => ({ table: 'feedback' as const, key: record.id, value: encodeRecord(record) })),
      ...remove.map((id) => ({ table: 'feedback' as const, key: id, value: null })),
    ];
    if (writes.length > 0) await this.#store.commit(writes);
  }
}
