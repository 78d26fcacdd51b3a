/** The strategies put over the API, over any key-value store: one record, gone when none is in force. */
import type { StoredStrategies, StrategyStore } from '../routing/index.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const KEY = 'current';
const SHAPE: RecordShape = { document: 'object', setBy: 'string', setAt: 'number' };

export class KeyValueStrategyStore implements StrategyStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async load(): Promise<StoredStrategies | undefined> {
    const bytes = await this.#store.get('strategies', KEY);
    return bytes === undefined ? undefined : decodeRecord<StoredStrategies>('strategies', KEY, bytes, SHAPE);
  }

  async save(stored: StoredStrategies | null): Promise<void> {
    await this.#store.commit([{ table: 'strategies', key: KEY, value: stored === null ? null : encodeRecord(stored) }]);
  }
}
