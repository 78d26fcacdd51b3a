/** Feedback over any key-value store: one JSON record each. */
import type { FeedbackChange, FeedbackRecord, FeedbackStore } from '../registry/index.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';
import type { LoggedWrite } from './shared-log.ts';

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

/** What an entry of the log changes in the feedback. */
export function feedbackChangeOf(writes: readonly LoggedWrite[]): { put: FeedbackRecord[]; remove: string[] } {
  const put: FeedbackRecord[] = [];
  const remove: string[] = [];
  for (const { table, key, value } of writes) {
    if (table !== 'feedback' || value === undefined) continue;
    const record = value === null ? undefined : decodeRecord<FeedbackRecord>('feedback', key, value, SHAPE);
    if (record !== undefined) put.push(record);
    else if (value === null) remove.push(key);
  }
  return { put, remove };
}
