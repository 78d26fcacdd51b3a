/** Rule sets over any key-value store: the current one, and the last hundred for looking back and rolling back. */
import { log } from '../core/index.ts';
import type { RuleEditRecord, RuleSetVersion, RuleStore } from '../rules/index.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

export const KEPT_RULE_VERSIONS = 100;
const CURRENT = 'current';

const SHAPE: RecordShape = {
  version: 'number',
  rules: 'array',
  editedAt: 'number',
  editedBy: 'string',
  change: 'string',
};

const RECORD_SHAPE: RecordShape = {
  version: 'number',
  ruleCount: 'number',
  editedAt: 'number',
  editedBy: 'string',
  change: 'string',
};

/** Padded, so that the order of keys is the order of versions. */
const setKey = (version: number): string => String(version).padStart(12, '0');
/** Beside each set, so that the history is read without sets, which may hold thousands of rules. */
const recordKey = (version: number): string => `edit-${setKey(version)}`;

export class KeyValueRuleStore implements RuleStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Falls back to the newest readable version of the history where the current one cannot be read. */
  async load(): Promise<RuleSetVersion | undefined> {
    const bytes = await this.#store.get('rules', CURRENT);
    if (bytes === undefined) return undefined;
    const current = decodeRecord<RuleSetVersion>('rules', CURRENT, bytes, SHAPE);
    if (current !== undefined) return current;
    const newest = await this.#newestReadable();
    log('error', 'the current rule set cannot be read; the newest readable one serves', {
      version: newest?.version ?? null,
    });
    return newest;
  }

  async save(set: RuleSetVersion): Promise<void> {
    const value = encodeRecord(set);
    // Versions rise by one, so each save has exactly one to drop.
    const dropped = set.version - KEPT_RULE_VERSIONS;
    const gone = dropped > 0 ? [setKey(dropped), recordKey(dropped)] : [];
    await this.#store.commit([
      { table: 'rules', key: CURRENT, value },
      { table: 'rule_history', key: setKey(set.version), value },
      { table: 'rule_history', key: recordKey(set.version), value: encodeRecord(recordOf(set)) },
      ...gone.map((key) => ({ table: 'rule_history' as const, key, value: null })),
    ]);
  }

  async read(version: number): Promise<RuleSetVersion | undefined> {
    return this.#set(setKey(version));
  }

  async history(newest: number, limit: number): Promise<RuleEditRecord[]> {
    const found: RuleEditRecord[] = [];
    const oldest = Math.max(1, newest - KEPT_RULE_VERSIONS + 1);
    for (let at = newest; at >= oldest && found.length < limit; ) {
      const count = Math.min(limit - found.length, at - oldest + 1);
      const versions = Array.from({ length: count }, (_, i) => at - i);
      const rows = await this.#store.getMany('rule_history', versions.map(recordKey));
      for (const [i, version] of versions.entries()) {
        const record = await this.#record(version, rows[i]);
        if (record !== undefined) found.push(record);
      }
      at -= count;
    }
    return found;
  }

  /** Versions stored before there were records beside them are told from their sets, one at a time. */
  async #record(version: number, bytes: Uint8Array | undefined): Promise<RuleEditRecord | undefined> {
    if (bytes !== undefined) {
      const record = decodeRecord<RuleEditRecord>('rule_history', recordKey(version), bytes, RECORD_SHAPE);
      if (record !== undefined) return record;
    }
    const set = await this.read(version);
    return set === undefined ? undefined : recordOf(set);
  }

  async #set(key: string): Promise<RuleSetVersion | undefined> {
    const bytes = await this.#store.get('rule_history', key);
    return bytes === undefined ? undefined : decodeRecord<RuleSetVersion>('rule_history', key, bytes, SHAPE);
  }

  /** For a current set that cannot be read: nothing else says which version was the newest. */
  async #newestReadable(): Promise<RuleSetVersion | undefined> {
    const keys: string[] = [];
    for await (const slice of this.#store.keys('rule_history')) keys.push(...slice.filter((key) => /^\d+$/.test(key)));
    for (const key of keys.sort().reverse()) {
      const set = await this.#set(key);
      if (set !== undefined) return set;
    }
    return undefined;
  }
}

function recordOf({ rules, ...edit }: RuleSetVersion): RuleEditRecord {
  return { ...edit, ruleCount: rules.length };
}
