import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DictionaryEntry } from '../../src/capability/index.ts';
import { type AgentId, contentHash, subscribe } from '../../src/core/index.ts';
import type { FeedbackRecord } from '../../src/registry/index.ts';
import type { RuleSetVersion } from '../../src/rules/index.ts';
import type { KeyValueStore } from '../../src/storage/index.ts';
import {
  KEPT_RULE_VERSIONS,
  KeyValueAgentStore,
  KeyValueFeedbackStore,
  KeyValueGoldenStore,
  KeyValueIndexHoldStore,
  KeyValueRuleStore,
  KeyValueStrategyStore,
  KeyValueVectorStore,
} from '../../src/storage/index.ts';
import { sampleRecord } from '../storage/sample-record.ts';
import { indexManifestTests } from './index-manifest.contract.ts';
import type { StoreBackend, StorePlace } from './key-value-store.contract.ts';

const sampleEntry = (name: string): DictionaryEntry =>
  ({
    namespace: 'default',
    name,
    firstOwner: 'a',
    firstSeenAt: 1,
    status: 'active',
    replacedBy: null,
    sensitive: false,
    description: null,
    examples: [],
    revision: 0,
  }) as unknown as DictionaryEntry;

const sampleFeedback = (id: string): FeedbackRecord => ({
  id,
  status: 'pending',
  namespace: 'default',
  intent: '外面要带伞吗',
  correct: null,
  answered: null,
  requestId: null,
  reports: 1,
  createdAt: 5,
  createdBy: 'web',
  decidedAt: null,
  decidedBy: null,
  effect: null,
});

const ruleSet = (version: number): RuleSetVersion => ({
  version,
  rules: [{ id: 'invoice', priority: version, match: 'contains', patterns: ['开发票'], capability: 'a.b.c' }],
  editedAt: version,
  editedBy: 'operator',
  change: `put ${version}`,
});

interface Bench {
  readonly store: KeyValueStore;
  /** A store over the same data after a restart; the same one where the backend forgets. */
  restarted(): Promise<KeyValueStore>;
}

/** The agent, rule and vector stores over one backend. */
export function runDomainStoreContracts(backend: StoreBackend): void {
  describe(`domain stores: ${backend.name}`, () => {
    let place: StorePlace;
    let open: KeyValueStore;
    let bench: Bench;
    beforeEach(async () => {
      place = await backend.prepare();
      open = await place.open();
      bench = {
        store: open,
        restarted: async () => {
          if (!backend.isDurable) return open;
          await open.close();
          open = await place.open();
          return open;
        },
      };
    });
    afterEach(async () => {
      await open.close();
      await place.clean();
    });

    describe('agent store', () => agentStoreTests(() => bench));
    describe('feedback store', () => feedbackStoreTests(() => bench));
    describe('rule store', () => ruleStoreTests(() => bench));
    describe('vector store', () => vectorStoreTests(() => bench));
    describe('golden and hold stores', () => indexStoreTests(() => bench));
    describe('index manifest', () => indexManifestTests(() => bench));
  });
}

function agentStoreTests(bench: () => Bench): void {
  test('finds agents and entries again after a restart, field for field', async () => {
    const record = sampleRecord('a', { zone: 'hz-1', expiresAt: 5, offlineAt: 4 });
    await new KeyValueAgentStore(bench().store).commit({
      putAgents: [record, sampleRecord('b')],
      putEntries: [sampleEntry('weather.query.city')],
    });
    const loaded = await new KeyValueAgentStore(await bench().restarted()).load();
    expect(loaded.agents).toEqual([record, sampleRecord('b')]);
    expect(loaded.entries).toEqual([sampleEntry('weather.query.city')]);
  });

  test('reads entries written before operators could give examples', async () => {
    const { examples: _examples, revision: _revision, ...older } = sampleEntry('a.b.c');
    const value = Buffer.from(JSON.stringify(older));
    await bench().store.commit([{ table: 'dictionary', key: 'default/a.b.c', value }]);
    expect((await new KeyValueAgentStore(bench().store).load()).entries).toEqual([sampleEntry('a.b.c')]);
  });

  test('forgets a removed agent and keeps the dictionary', async () => {
    const agents = new KeyValueAgentStore(bench().store);
    await agents.commit({ putAgents: [sampleRecord('a')], putEntries: [sampleEntry('a.b.c')] });
    await agents.commit({ removeAgents: ['a' as AgentId] });
    const loaded = await new KeyValueAgentStore(await bench().restarted()).load();
    expect(loaded.agents).toEqual([]);
    expect(loaded.entries).toHaveLength(1);
  });

  test('reports a record that cannot be read and loads the others', async () => {
    const { store } = bench();
    await new KeyValueAgentStore(store).commit({ putAgents: [sampleRecord('good')] });
    const broken = ['not json', '[]', '{"agentId":"x"}', JSON.stringify({ ...sampleRecord('x'), incarnation: 'one' })];
    await store.commit(
      broken.map((text, i) => ({ table: 'agents' as const, key: `broken${i}`, value: Buffer.from(text) })),
    );
    await store.commit([{ table: 'agents', key: 'broken-utf8', value: Uint8Array.of(0x7b, 0xff, 0x7d) }]);
    const reported: unknown[] = [];
    const stop = subscribe('log', (line) => reported.push(line.fields?.key));
    const loaded = await new KeyValueAgentStore(store).load();
    stop();
    expect(loaded.agents.map((record) => record.agentId)).toEqual(['good']);
    expect(reported.sort()).toEqual(['broken-utf8', 'broken0', 'broken1', 'broken2', 'broken3']);
  });
}

function feedbackStoreTests(bench: () => Bench): void {
  test('finds feedback again after a restart, and forgets what was removed', async () => {
    const feedback = new KeyValueFeedbackStore(bench().store);
    await feedback.commit({ put: [sampleFeedback('fb_1'), sampleFeedback('fb_2')] });
    await feedback.commit({ put: [{ ...sampleFeedback('fb_2'), reports: 3 }], remove: ['fb_1'] });
    const loaded = await new KeyValueFeedbackStore(await bench().restarted()).load();
    expect(loaded).toEqual([{ ...sampleFeedback('fb_2'), reports: 3 }]);
  });
}

function ruleStoreTests(bench: () => Bench): void {
  test('answers undefined before the first edit, then the newest set, also after a restart', async () => {
    const rules = new KeyValueRuleStore(bench().store);
    expect(await rules.load()).toBeUndefined();
    await rules.save(ruleSet(1));
    await rules.save(ruleSet(2));
    expect(await rules.load()).toEqual(ruleSet(2));
    expect(await new KeyValueRuleStore(await bench().restarted()).load()).toEqual(ruleSet(2));
  });

  test('keeps the last hundred versions, newest first', async () => {
    const rules = new KeyValueRuleStore(bench().store);
    for (let version = 1; version <= KEPT_RULE_VERSIONS + 5; version++) await rules.save(ruleSet(version));
    const history = await rules.history(105, 1_000);
    expect(history.map((set) => set.version)).toEqual(Array.from({ length: 100 }, (_, i) => 105 - i));
    expect((await rules.history(105, 3)).map((set) => set.version)).toEqual([105, 104, 103]);
    expect(await rules.read(6)).toEqual(ruleSet(6));
    expect(await rules.read(5)).toBeUndefined();
  });

  test('serves the newest readable set where the current one cannot be read', async () => {
    const { store } = bench();
    const rules = new KeyValueRuleStore(store);
    await rules.save(ruleSet(1));
    await store.commit([{ table: 'rules', key: 'current', value: Buffer.from('{') }]);
    expect(await rules.load()).toEqual(ruleSet(1));
  });
}

function indexStoreTests(bench: () => Bench): void {
  const line = { id: 'rain', text: '会下雨吗', capability: 'weather.query.city', namespace: 'default' };

  test('keeps golden lines over a restart, replaced and removed as asked', async () => {
    const golden = new KeyValueGoldenStore(bench().store);
    await golden.commit({ put: [line, { ...line, id: 'none', capability: null }] });
    await golden.commit({ put: [{ ...line, text: 'rain?' }], remove: ['none'] });
    expect(await new KeyValueGoldenStore(await bench().restarted()).load()).toEqual([{ ...line, text: 'rain?' }]);
  });

  test('keeps a rollback until it is ended', async () => {
    const hold = { version: 'v000001', heldAt: 5, by: 'ops', liveHashes: { 'default/a.b.c': 'f' } };
    await new KeyValueIndexHoldStore(bench().store).save(hold);
    const holds = new KeyValueIndexHoldStore(await bench().restarted());
    expect(await holds.load()).toEqual(hold);
    await holds.save(null);
    expect(await holds.load()).toBeUndefined();
  });

  test('keeps the strategies that were put until they are taken away', async () => {
    const put = { document: { default: { queueLoad: 0.5 } }, setBy: 'ops', setAt: 5 };
    await new KeyValueStrategyStore(bench().store).save(put);
    const strategies = new KeyValueStrategyStore(await bench().restarted());
    expect(await strategies.load()).toEqual(put);
    await strategies.save(null);
    expect(await strategies.load()).toBeUndefined();
  });
}

function vectorStoreTests(bench: () => Bench): void {
  const hash = contentHash('weather');
  const vector = Float32Array.from({ length: 384 }, (_, i) => Math.fround(Math.sin(i)));

  test('gives back the same bits after a restart, by fingerprint and hash', async () => {
    await new KeyValueVectorStore(bench().store).putMany('model-a', new Map([[hash, vector]]));
    const vectors = new KeyValueVectorStore(await bench().restarted());
    const other = contentHash('other');
    expect(await vectors.getMany('model-a', [other, hash])).toEqual(new Map([[hash, vector]]));
    expect(await vectors.getMany('model-b', [hash])).toEqual(new Map());
  });

  test('changes nothing when a known hash is put again', async () => {
    const vectors = new KeyValueVectorStore(bench().store);
    await vectors.putMany('model-a', new Map([[hash, vector]]));
    const kept = await vectors.putMany('model-a', new Map([[hash, new Float32Array(384)]]));
    expect(kept).toEqual(new Map([[hash, vector]]));
    expect((await vectors.getMany('model-a', [hash])).get(hash)).toEqual(vector);
  });

  test('stores a view of a larger buffer as the view alone', async () => {
    const vectors = new KeyValueVectorStore(bench().store);
    const large = Float32Array.of(9, 1, 2, 9);
    await vectors.putMany('model-a', new Map([[hash, large.subarray(1, 3)]]));
    expect((await vectors.getMany('model-a', [hash])).get(hash)).toEqual(Float32Array.of(1, 2));
  });

  test('removes what is not kept, of every fingerprint, and says how many', async () => {
    const { store } = bench();
    const hashes = Array.from({ length: 2_500 }, (_, i) => contentHash(`text ${i}`));
    const small = new Map(hashes.map((one, i) => [one, Float32Array.of(i, 1)]));
    await new KeyValueVectorStore(store).putMany('model-a', small);
    await new KeyValueVectorStore(store).putMany('model-b', new Map([[hash, vector]]));
    const kept = new Set(hashes.filter((_, i) => i % 5 === 0));
    const isKept = (fingerprint: string, one: typeof hash) => fingerprint === 'model-a' && kept.has(one);
    expect(await new KeyValueVectorStore(store).prune(isKept)).toBe(2_001);
    const vectors = new KeyValueVectorStore(await bench().restarted());
    expect([...(await vectors.getMany('model-a', hashes)).keys()]).toEqual([...kept]);
    expect(await vectors.getMany('model-b', [hash])).toEqual(new Map());
    expect(await vectors.prune(isKept)).toBe(0);
  });

  test('keeps a vector that is asked for while it goes', async () => {
    const vectors = new KeyValueVectorStore(bench().store);
    await vectors.putMany('model-a', new Map([[hash, vector]]));
    let asked = 0;
    expect(await vectors.prune(() => ++asked > 2)).toBe(0);
    expect(asked).toBe(3);
    expect((await vectors.getMany('model-a', [hash])).get(hash)).toEqual(vector);
  });

  test('leaves out and reports bytes that are no vector, and lets them be put anew', async () => {
    const { store } = bench();
    const vectors = new KeyValueVectorStore(store);
    for (const bad of [Uint8Array.of(1, 2, 3), new Uint8Array(0), new Uint8Array(Float32Array.of(Number.NaN).buffer)]) {
      await store.commit([{ table: 'vectors', key: `model-a/${hash}`, value: bad }]);
      expect(await vectors.getMany('model-a', [hash])).toEqual(new Map());
    }
    await vectors.putMany('model-a', new Map([[hash, vector]]));
    expect((await vectors.getMany('model-a', [hash])).get(hash)).toEqual(vector);
  });
}
