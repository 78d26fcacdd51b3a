/** What drift was counted from, over any key-value store: one record of a few kilobytes. */
import type { KeyValueStore } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

interface DriftRecord {
  readonly hours: readonly (readonly number[])[];
  readonly warned: readonly string[];
}

const KEY = 'drift';
const SHAPE: RecordShape = { hours: 'array', warned: 'array' };

/** `owner`: whose routes were counted, where several instances share the store. */
export const driftKeyOf = (owner?: string): string => (owner === undefined ? KEY : `${KEY}:${owner}`);

export class KeyValueDriftStore {
  readonly #store: KeyValueStore;
  readonly #key: string;

  constructor(store: KeyValueStore, owner?: string) {
    this.#store = store;
    this.#key = driftKeyOf(owner);
  }

  /** A damaged record is logged and counts as none. Error: AR_ERR_STORE_UNAVAILABLE. */
  async load(): Promise<DriftRecord | undefined> {
    const bytes = await this.#store.get('meta', this.#key);
    return bytes === undefined ? undefined : decodeRecord<DriftRecord>('meta', this.#key, bytes, SHAPE);
  }

  async save(record: DriftRecord): Promise<void> {
    await this.#store.commit([{ table: 'meta', key: this.#key, value: encodeRecord(record) }]);
  }
}
