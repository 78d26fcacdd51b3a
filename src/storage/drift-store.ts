/** What drift was counted from, over any key-value store: one record of a few kilobytes. */
import type { KeyValueStore } from './key-value-store.ts';
import { ownedKey } from './owned-key.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const KEY = 'drift';
const SHAPE: RecordShape = { hours: 'array', warned: 'array' };

/** `owner`: whose routes were counted, where several instances share the store. */
export const driftKeyOf = (owner?: string): string => ownedKey(KEY, owner);

/** `Counted` is the counter's own: here it is only known to have these fields. */
export class KeyValueDriftStore<Counted extends object> {
  readonly #store: KeyValueStore;
  readonly #key: string;

  constructor(store: KeyValueStore, owner?: string) {
    this.#store = store;
    this.#key = driftKeyOf(owner);
  }

  /** A damaged record is logged and counts as none. Error: AR_ERR_STORE_UNAVAILABLE. */
  async load(): Promise<Counted | undefined> {
    const bytes = await this.#store.get('meta', this.#key);
    return bytes === undefined ? undefined : decodeRecord<Counted>('meta', this.#key, bytes, SHAPE);
  }

  async save(record: Counted): Promise<void> {
    await this.#store.commit([{ table: 'meta', key: this.#key, value: encodeRecord(record) }]);
  }
}
