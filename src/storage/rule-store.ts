/** Rule sets over any key-value store: the current one, and the last hundred for looking back and rolling back. */
import { log } from '../core/index.ts';
import type { RuleSetVersion, RuleStore } from '../rules/index.ts';
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

/** Padded, so that the order of keys is the order of versions. */
const historyKey = (version: number): string => String(version).padStart(12, '0');

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
    const [newest] = await this.#wholeHistory(1);
    log('error', 'the current rule set cannot be read; the newest readable one serves', {
      version: newest?.version ?? null,
    });
    return newest;
  }

  async save(version: RuleSetVersion): Promise<void> {
    const value = encodeRecord(version);
    await this.#store.commit([
      { table: 'rules', key: CURRENT, value },
      { table: 'rule_history', key: historyKey(version.version), value },
      // Versions rise by one, so each save has exactly one to drop.
      ...(version.version > KEPT_RULE_VERSIONS
        ? [{ table: 'rule_history' as const, key: historyKey(version.version - KEPT_RULE_VERSIONS), value: null }]
        : []),
    ]);
  }

  /** Reads the sets it answers, by their keys: a set may hold thousands of rules. */
  async history(limit: number): Promise<RuleSetVersion[]> {
    const bytes = await this.#store.get('rules', CURRENT);
    const newest = bytes === undefined ? undefined : decodeRecord<RuleSetVersion>('rules', CURRENT, bytes, SHAPE);
    if (newest === undefined) return this.#wholeHistory(limit);
    const versions: RuleSetVersion[] = [];
    for (let at = newest.version; at > Math.max(0, newest.version - KEPT_RULE_VERSIONS); ) {
      if (versions.length >= limit) break;
      const count = Math.min(limit - versions.length, at, KEPT_RULE_VERSIONS);
      const keys = Array.from({ length: count }, (_, i) => historyKey(at - i));
      const rows = await this.#store.getMany('rule_history', keys);
      versions.push(...rows.flatMap((row, i) => (row === undefined ? [] : (decodeSet(keys[i] ?? '', row) ?? []))));
      at -= count;
    }
    return versions;
  }

  /** For a current set that is gone or cannot be read: nothing else says which version was the newest. */
  async #wholeHistory(limit: number): Promise<RuleSetVersion[]> {
    const newestFirst = (await this.#store.entries('rule_history')).reverse();
    const versions: RuleSetVersion[] = [];
    for (const [key, bytes] of newestFirst) {
      if (versions.length >= limit) break;
      const version = decodeSet(key, bytes);
      if (version !== undefined) versions.push(version);
    }
    return versions;
  }
}

function decodeSet(key: string, bytes: Uint8Array): RuleSetVersion | undefined {
  return decodeRecord<RuleSetVersion>('rule_history', key, bytes, SHAPE);
}
