/** Whether a rollback of the index is in force, over any key-value store: one record, gone when none is. */
import type { IndexHold, IndexHoldStore } from '../routing/index.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const KEY = 'index_hold';
const SHAPE: RecordShape = { version: 'string', heldAt: 'number', by: 'string', liveHashes: 'object' };

export class KeyValueIndexHoldStore implements IndexHoldStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async load(): Promise<IndexHold | undefined> {
    const bytes = await this.#store.get('meta', KEY);
    return bytes === undefined ? undefined : decodeRecord<IndexHold>('meta', KEY, bytes, SHAPE);
  }

  async save(hold: IndexHold | null): Promise<void> {
    await this.#store.commit([{ table: 'meta', key: KEY, value: hold === null ? null : encodeRecord(hold) }]);
  }
}
