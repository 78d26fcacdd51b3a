import { describe, expect, it } from 'vitest';
import { readDefinitions, unionMeaning } from '../../src/capability/index.ts';
import type { CapabilityObject } from '../../src/contract/index.ts';
import { contentHash } from '../../src/core/index.ts';
import { KeyValueVectorStore } from '../../src/storage/index.ts';
import { MAIL, routerRig, WEATHER } from './router-rig.ts';

function meaningsOf(capabilities: CapabilityObject[], namespace = 'default') {
  return readDefinitions(capabilities, []).map((one) => unionMeaning(namespace, one.name, [one], undefined));
}

describe('CapabilityIndexer', () => {
  it('embeds a text once, however many capabilities and registrations share it', async () => {
    const { embedder, indexer } = await routerRig();
    const shared = { ...MAIL, name: 'mail.deliver.message' };
    await Promise.all([
      indexer.prepare(meaningsOf([MAIL])),
      indexer.prepare(meaningsOf([MAIL])).then(() => indexer.prepare(meaningsOf([shared]))),
    ]);
    const before = embedder.embeddedTexts;
    await indexer.prepare(meaningsOf([MAIL, shared]));
    expect(embedder.embeddedTexts).toBe(before);
  });

  it('embeds anew what the store holds by the hash of another form, and both writings of a text once', async () => {
    const { embedder, indexer, store, vectors } = await routerRig();
    const [traditional, simplified] = ['取消我的鬧鐘', '取消我的闹钟'];
    const [old] = await embedder.embed(['something else'], { kind: 'document' });
    await new KeyValueVectorStore(store).putMany(
      embedder.info.fingerprint,
      new Map([[contentHash(traditional), old ?? new Float32Array()]]),
    );
    const before = embedder.embeddedTexts;
    await indexer.prepare(meaningsOf([{ name: 'alarm.cancel.one', examples: [traditional, simplified] }]));
    expect(embedder.embeddedTexts - before).toBe(2);
    const [meant] = await embedder.embed([simplified], { kind: 'document' });
    expect(vectors.vectorOf(contentHash(simplified))).toEqual(meant);
    expect(vectors.has(contentHash(traditional))).toBe(false);
  });

  it('warns about a capability that reads like another one', async () => {
    const { indexer } = await routerRig();
    indexer.apply(meaningsOf([MAIL]));
    await indexer.settled();
    const warnings = await indexer.prepare(meaningsOf([{ ...MAIL, name: 'mail.deliver.message' }]));
    expect(warnings).toMatchObject([{ code: 'near_duplicate', capability: 'mail.deliver.message' }]);
    expect(warnings[0]?.message).toContain('mail.send.message');
    expect(await indexer.prepare(meaningsOf([WEATHER]))).toEqual([]);
  });

  it('changes its revision only when something else can be found', async () => {
    const { indexer } = await routerRig();
    indexer.apply(meaningsOf([WEATHER]));
    await indexer.settled();
    const revision = indexer.revision;
    indexer.apply(meaningsOf([WEATHER]));
    expect(indexer.revision).toBe(revision);
    indexer.apply(meaningsOf([{ ...WEATHER, sensitive: true }]));
    expect(indexer.revision).toBe(revision + 1);
  });

  it('takes an alias that repeats a text it has already', async () => {
    const { indexer } = await routerRig();
    const plain = { name: 'alarm.set.time', description: 'Wake me' };
    for (const alias of ['wake me', 'Wake me', 'alarm set time']) {
      indexer.apply(meaningsOf([plain]));
      expect(indexer.space('default')?.named(alias.toLowerCase())).toBeUndefined();
      indexer.apply(meaningsOf([{ ...plain, aliases: [alias] }]));
      expect(indexer.space('default')?.named(alias.toLowerCase())?.by).toBe('alias');
    }
  });

  it('never answers a removed capability, by meaning, words, name or alias', async () => {
    const { indexer, embedder } = await routerRig();
    indexer.apply(meaningsOf([WEATHER, MAIL]));
    await indexer.settled();
    indexer.remove('default', WEATHER.name);
    const [query] = await embedder.embed(['weather forecast for a city'], { kind: 'query' });
    if (query === undefined) throw new Error('no vector');
    expect(indexer.search('default', query, 10).map(({ entry }) => entry.name)).toEqual([MAIL.name]);
    const space = indexer.space('default');
    expect(space?.searchWords('weather forecast', 10)).toEqual([]);
    expect(space?.named('weather.query.city')).toBeUndefined();
    expect(space?.named('weather report')).toBeUndefined();
  });

  it('forgets vectors that nobody owns, but not those of a registration under way', async () => {
    const { indexer, vectors, clock } = await routerRig();
    indexer.apply(meaningsOf([WEATHER]));
    await indexer.settled();
    await indexer.prepare(meaningsOf([MAIL]));
    indexer.remove('default', WEATHER.name);
    indexer.dropUnowned();
    expect(vectors.size).toBeGreaterThanOrEqual(2);
    clock.advance(600_000);
    indexer.dropUnowned();
    expect(vectors.size).toBe(0);
  });

  it('forgets what a capability said before, once nobody else is about to say it', async () => {
    const { indexer, vectors } = await routerRig();
    const say = (description: string) => meaningsOf([{ name: 'mail.send.message', description }]);
    const register = async (description: string): Promise<void> => {
      await indexer.prepare(say(description));
      indexer.apply(say(description));
    };
    await register('the first words');
    await indexer.prepare(say('the first words'));
    for (let i = 0; i < 50; i++) await register(`other words ${i}`);
    indexer.dropUnowned();
    expect(vectors.size).toBe(3);
    indexer.apply(say('the first words'));
    expect(indexer.missingVectors).toBe(0);
    indexer.dropUnowned();
    expect(vectors.size).toBe(2);
  });

  it('takes an alias of two capabilities for neither', async () => {
    const { indexer } = await routerRig();
    indexer.apply(meaningsOf([WEATHER]));
    indexer.apply(meaningsOf([{ ...MAIL, aliases: ['Weather Report'] }]));
    expect(indexer.space('default')?.named('weather report')).toBeUndefined();
    indexer.remove('default', MAIL.name);
    expect(indexer.space('default')?.named('weather report')?.entry.name).toBe(WEATHER.name);
  });

  it('finds a small namespace inside a large index', async () => {
    const { indexer, embedder } = await routerRig();
    const crowd = Array.from({ length: 200 }, (_, i) => ({
      name: `weather.query.town_${i}`,
      description: `weather forecast for town ${i}`,
    }));
    indexer.apply(meaningsOf(crowd));
    indexer.apply(meaningsOf([MAIL], 'small'));
    await indexer.settled();
    const [query] = await embedder.embed(['weather forecast for town 7'], { kind: 'query' });
    if (query === undefined) throw new Error('no vector');
    expect(indexer.search('small', query, 5).map(({ entry }) => entry.name)).toEqual([MAIL.name]);
    expect(indexer.search('default', query, 5)[0]?.entry.name).toBe('weather.query.town_7');
  });
});
