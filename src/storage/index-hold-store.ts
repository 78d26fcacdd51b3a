/** Whether a rollback of the index is in force, over any key-value store: one record, gone when none is. */
import type { IndexHold, IndexHoldStore } from '../routing/index.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const KEY = 'index_hold';
const SHAPE: RecordShape = { version: 'string', heldAt: 'number', by: 'string', liveHashes: 'object' };

export class KeyValueIndexHoldStore implements IndexHoldStore {
  readonly #store: KeyValueStore;
  readonly #key: string;

  /** `owner`: whose versions it is about, where several instances share the store but not their folders. */
  constructor(store: KeyValueStore, owner?: string) {
    this.#store = store;
    this.#key = owner === undefined ? KEY : `${KEY}:${owner}`;
  }

  async load(): Promise<IndexHold | undefined> {
    const bytes = await this.#store.get('meta', this.#key);
    return bytes === undefined ? undefined : decodeRecord<IndexHold>('meta', this.#key, bytes, SHAPE);
  }

  async save(hold: IndexHold | null): Promise<void> {
    await this.#store.commit([{ table: 'meta', key: this.#key, value: hold === null ? null : encodeRecord(hold) }]);
  }
}
