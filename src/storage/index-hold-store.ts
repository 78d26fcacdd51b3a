/** Whether a rollback of the index is in force, over any key-value store: one record, gone when none is. */
import type { IndexHold, IndexHoldStore } from '../routing/index.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { ownedKey } from './owned-key.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const KEY = 'index_hold';
const SHAPE: RecordShape = { version: 'string', heldAt: 'number', by: 'string', liveHashes: 'object' };

/** Of what is held in the versions of `owner`, a model where instances share them; of the only ones there are, else. */
export const holdKeyOf = (owner?: string): string => ownedKey(KEY, owner);

export function holdIn(key: string, bytes: Uint8Array | undefined): IndexHold | undefined {
  return bytes === undefined ? undefined : decodeRecord<IndexHold>('meta', key, bytes, SHAPE);
}

export class KeyValueIndexHoldStore implements IndexHoldStore {
  readonly #store: KeyValueStore;
  readonly #key: string;

  constructor(store: KeyValueStore, owner?: string) {
    this.#store = store;
    this.#key = holdKeyOf(owner);
  }

  async load(): Promise<IndexHold | undefined> {
    return holdIn(this.#key, await this.#store.get('meta', this.#key));
  }

  async save(hold: IndexHold | null): Promise<void> {
    await this.#store.commit([{ table: 'meta', key: this.#key, value: hold === null ? null : encodeRecord(hold) }]);
  }
}
