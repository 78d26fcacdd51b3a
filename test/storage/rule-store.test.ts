import { expect, it } from 'vitest';
import type { RuleSetVersion } from '../../src/rules/index.ts';
import { KEPT_RULE_VERSIONS, KeyValueRuleStore, MemoryStore } from '../../src/storage/index.ts';

const setOf = (version: number): RuleSetVersion => ({
  version,
  rules: [],
  editedAt: version,
  editedBy: 'operator',
  change: `put ${version}`,
});

class CountingStore extends MemoryStore {
  rowsRead = 0;

  override async getMany(...args: Parameters<MemoryStore['getMany']>): ReturnType<MemoryStore['getMany']> {
    this.rowsRead += args[1].length;
    return super.getMany(...args);
  }

  override async entries(...args: Parameters<MemoryStore['entries']>): ReturnType<MemoryStore['entries']> {
    const rows = await super.entries(...args);
    this.rowsRead += rows.length;
    return rows;
  }
}

it('reads of the history only what it answers, and passes over what is gone', async () => {
  const store = new CountingStore();
  const rules = new KeyValueRuleStore(store);
  for (let version = 1; version <= 8; version++) await rules.save(setOf(version));
  expect((await rules.history(1)).map(({ version }) => version)).toEqual([8]);
  expect(store.rowsRead).toBe(1);
  await store.commit([{ table: 'rule_history', key: '000000000007', value: new Uint8Array([1]) }]);
  await store.commit([{ table: 'rule_history', key: '000000000005', value: null }]);
  expect((await rules.history(3)).map(({ version }) => version)).toEqual([8, 6, 4]);
  expect((await rules.history(KEPT_RULE_VERSIONS)).map(({ version }) => version)).toEqual([8, 6, 4, 3, 2, 1]);
  expect(await new KeyValueRuleStore(new MemoryStore()).history(5)).toEqual([]);
});
