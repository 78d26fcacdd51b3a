import { expect, it } from 'vitest';
import type { RuleSetVersion } from '../../src/rules/index.ts';
import { KEPT_RULE_VERSIONS, KeyValueRuleStore, MemoryStore } from '../../src/storage/index.ts';

const setOf = (version: number): RuleSetVersion => ({
  version,
  rules: [{ id: 'stop', priority: 0, match: 'exact', patterns: ['stop'], deny: true }],
  editedAt: version,
  editedBy: 'operator',
  change: `put ${version}`,
});

class CountingStore extends MemoryStore {
  readonly keysRead: string[] = [];

  override async get(...args: Parameters<MemoryStore['get']>): ReturnType<MemoryStore['get']> {
    this.keysRead.push(args[1]);
    return super.get(...args);
  }
}

const versionsOf = (history: readonly { readonly version: number }[]): number[] =>
  history.map(({ version }) => version);

async function eightVersions() {
  const store = new CountingStore();
  const rules = new KeyValueRuleStore(store);
  for (let version = 1; version <= 8; version++) await rules.save(setOf(version));
  return { store, rules };
}

const remove = (key: string) => ({ table: 'rule_history', key, value: null }) as const;
const spoil = (key: string) => ({ table: 'rule_history', key, value: new Uint8Array([1]) }) as const;

it('reads no set for the history, and only the one asked for', async () => {
  const { store, rules } = await eightVersions();
  expect(await rules.history(8, 2)).toEqual([
    { version: 8, editedAt: 8, editedBy: 'operator', change: 'put 8', ruleCount: 1 },
    { version: 7, editedAt: 7, editedBy: 'operator', change: 'put 7', ruleCount: 1 },
  ]);
  expect(versionsOf(await rules.history(5, KEPT_RULE_VERSIONS))).toEqual([5, 4, 3, 2, 1]);
  expect(store.keysRead).toEqual([]);
  expect(await rules.read(3)).toEqual(setOf(3));
  expect(store.keysRead).toEqual(['000000000003']);
  expect(await new KeyValueRuleStore(new MemoryStore()).history(5, 5)).toEqual([]);
});

it('tells what an older version stored, and passes over what cannot be read', async () => {
  const { store, rules } = await eightVersions();
  await store.commit([7, 6, 5].map((version) => remove(`edit-00000000000${version}`)));
  await store.commit([remove('000000000006'), spoil('000000000005'), spoil('edit-000000000004')]);
  expect(versionsOf(await rules.history(8, 5))).toEqual([8, 7, 4, 3, 2]);
  expect(await rules.read(6)).toBeUndefined();
});

it('starts from the newest readable set where the current one is damaged', async () => {
  const { store, rules } = await eightVersions();
  await store.commit([{ table: 'rules', key: 'current', value: new Uint8Array([1]) }, spoil('000000000008')]);
  expect(await rules.load()).toEqual(setOf(7));
});
