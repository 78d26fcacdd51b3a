/** Index versions of several instances over one Redis: built by one, served by all. Real processes and a real Redis. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { KeyValueVectorStore, RedisStore } from '../../src/storage/index.ts';
import { hasRedisServer } from '../storage/redis-server.ts';
import { ask, call, registration } from './client.ts';
import type { HashService } from './hash-service.ts';
import { type RedisCluster, startCluster } from './redis-cluster.ts';

/** Rebuilds run on command only: what is built is then known. */
const ON_COMMAND = { config: { index: { rebuildDebounceMs: 0, rebuildMaxWaitMs: 0 } } };
const WEATHER = { name: 'weather.query.city', description: 'weather forecast for a city', examples: ['will it rain'] };
const MAIL = { name: 'mail.send.message', description: 'send an email to somebody' };
const SLOW = { timeout: 20_000 };
/** Each version is a thread and a process's worth of files at every instance. */
const TEST_MS = 60_000;

describe.runIf(hasRedisServer)('instances over one Redis', () => {
  let cluster: RedisCluster;
  beforeEach(async () => {
    cluster = await startCluster(0);
  });
  afterEach(() => cluster.stop());

  const start = (): Promise<HashService> => cluster.add(undefined, ON_COMMAND);
  const rebuild = ({ url }: HashService) => call(url, 'POST', '/v1/index/rebuild');
  const versions = async ({ url }: HashService) => (await call(url, 'GET', '/v1/index/versions')).body;
  const answer = async ({ url }: HashService, intent: string): Promise<unknown[]> => {
    const { body } = await ask(url, intent, { minRelevance: 0 });
    return [body.capability, body.indexVersion];
  };
  const embedded = async (...of: readonly HashService[]): Promise<number> => {
    const counts = await Promise.all(of.map((one) => one.embedded()));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  async function registerBoth({ url }: HashService): Promise<void> {
    await call(url, 'POST', '/v1/agents', registration('weather-1', [WEATHER]));
    await call(url, 'POST', '/v1/agents', registration('mail-1', [MAIL]));
  }

  test(
    'serve the version that one of them built, each text embedded once in all',
    async () => {
      const all = await Promise.all([start(), start(), start()]);
      const [a, b, c] = all;
      // The same texts at the same moment at two of them.
      await Promise.all([registerBoth(a), registerBoth(b)]);
      const { body } = await rebuild(a);
      expect(body).toMatchObject({ version: 'v000001', report: { count: 5 } });
      for (const one of all) await expect.poll(async () => (await versions(one)).current, SLOW).toBe(body.version);
      expect(await embedded(...all)).toBe(5);
      for (const one of all) {
        expect(await answer(one, 'weather forecast for a city')).toEqual(['weather.query.city', body.version]);
        expect(await answer(one, 'send an email to somebody')).toEqual(['mail.send.message', body.version]);
      }
      const { items, delta, instances } = await versions(c);
      expect(items).toEqual([{ ...body.report, current: true }]);
      expect(delta).toBe(0);
      await expect
        .poll(async () => (await versions(c)).instances.map(({ version }: { version: string }) => version), SLOW)
        .toEqual([body.version, body.version, body.version]);
      expect(instances.filter(({ isAnswering }: { isAnswering: boolean }) => isAnswering)).toHaveLength(1);
      expect((await call(b.url, 'POST', '/v1/index/verify')).body).toMatchObject({ ok: true, version: body.version });
    },
    TEST_MS,
  );

  test(
    'make one version of two rebuilds at once, and another one of a later',
    async () => {
      const [a, b] = await Promise.all([start(), start()]);
      await registerBoth(a);
      const both = await Promise.all([rebuild(a), rebuild(b)]);
      expect(both.map(({ status, body }) => [status, body.version])).toEqual([
        [200, 'v000001'],
        [200, 'v000001'],
      ]);
      expect((await rebuild(b)).body.version).toBe('v000002');
      await expect.poll(async () => (await versions(a)).current, SLOW).toBe('v000002');
    },
    TEST_MS,
  );

  test(
    'go back together, and on together',
    async () => {
      const [a, b] = await Promise.all([start(), start()]);
      await registerBoth(a);
      await rebuild(a);
      await call(a.url, 'POST', '/v1/agents', registration('weather-1', [{ ...WEATHER, examples: ['take a coat'] }]));
      await rebuild(b);
      await expect.poll(async () => (await versions(a)).current, SLOW).toBe('v000002');
      const before = await embedded(a, b);
      const { body } = await call(b.url, 'POST', '/v1/index/rollback', { version: 'v000001' });
      expect(body).toMatchObject({ version: 'v000001', restored: 1 });
      await expect.poll(async () => (await versions(a)).held, SLOW).toEqual(body.held);
      // One that starts with nothing comes to the same.
      const c = await start();
      await expect.poll(async () => (await versions(c)).current, SLOW).toBe('v000001');
      expect(await embedded(a, b, c)).toBe(before);
      for (const one of [a, b, c]) expect((await ask(one.url, 'will it rain')).body.relevance).toBeGreaterThan(0.9);
      expect((await rebuild(c)).body.version).toBe('v000004');
      for (const one of [a, b]) await expect.poll(async () => (await versions(one)).held, SLOW).toBeNull();
      expect((await versions(a)).items.map(({ id }: { id: string }) => id)).toEqual(['v000004', 'v000002', 'v000001']);
      expect((await call(a.url, 'POST', '/v1/index/rollback', { version: 'v000003' })).status).toBe(404);
    },
    TEST_MS,
  );

  test(
    'take over from a builder that is killed, before and after it published',
    async () => {
      const [a, b, c] = await Promise.all([start(), start(), start()]);
      await registerBoth(a);
      await a.arm('rebuild.checked');
      const lost = rebuild(a).catch(() => undefined);
      await a.died;
      await lost;
      expect((await rebuild(b)).body.version).toBe('v000002');
      await expect.poll(async () => (await versions(c)).current, SLOW).toBe('v000002');
      await b.arm('rebuild.renamed');
      await rebuild(b).catch(() => undefined);
      await b.died;
      await expect.poll(async () => (await versions(c)).current, SLOW).toBe('v000003');
      expect(await answer(c, 'will it rain')).toEqual(['weather.query.city', 'v000003']);
    },
    TEST_MS,
  );

  test(
    'run two models beside each other, each with its own versions and vectors',
    async () => {
      const a = await start();
      await registerBoth(a);
      await rebuild(a);
      const other = await cluster.add(undefined, { ...ON_COMMAND, dimensions: 256 });
      expect((await rebuild(other)).status).toBe(200);
      const counts = [await a.embedded(), await other.embedded()];
      await call(a.url, 'POST', '/v1/agents', registration('weather-1', [{ ...WEATHER, examples: ['take a coat'] }]));
      await expect.poll(async () => (await answer(other, 'take a coat'))[0]).toBe('weather.query.city');
      for (const one of [a, other, a, other]) expect((await rebuild(one)).status).toBe(200);
      // Started anew with nothing of their own they embed nothing: all vectors are there, of both.
      const [again, otherAgain] = [await start(), await cluster.add(undefined, { ...ON_COMMAND, dimensions: 256 })];
      const current = async (one: HashService) => (await versions(one)).current;
      await expect.poll(() => current(again), SLOW).toBe(await current(a));
      await expect.poll(() => current(otherAgain), SLOW).toBe(await current(other));
      expect(await embedded(again, otherAgain)).toBe(0);
      expect(counts).toEqual([5, 5]);
    },
    TEST_MS,
  );

  test(
    'put back vectors that were removed although they need them',
    async () => {
      const [a, b] = await Promise.all([start(), start()]);
      await registerBoth(a);
      await expect.poll(async () => (await answer(b, 'send an email to somebody'))[0]).toBe('mail.send.message');
      const store = await RedisStore.open({ url: cluster.redis.url });
      onTestFinished(() => store.close());
      expect(await new KeyValueVectorStore(store, { isShared: true }).prune(() => false)).toBe(5);
      await expect.poll(async () => (await store.entries('vectors')).length).toBe(5);
      expect(await (await start()).embedded()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'build one version of a change that all of them see, and rest then',
    async () => {
      const config = { index: { rebuildDebounceMs: 400, rebuildMaxWaitMs: 5_000 } };
      const all = await Promise.all([1, 2, 3].map(() => cluster.add(undefined, { config })));
      const [a, b] = all as [HashService, HashService];
      /** What each serves, each once, and how many versions were published. */
      const state = async () => {
        const lists = await Promise.all(all.map(versions));
        return [new Set(lists.map(({ current }) => current)).size, ...lists.map(({ items }) => items.length)];
      };
      await call(a.url, 'POST', '/v1/agents', registration('both', [WEATHER, MAIL]));
      await expect.poll(state, SLOW).toEqual([1, 1, 1, 1]);
      await call(b.url, 'POST', '/v1/agents', registration('both', [{ ...WEATHER, examples: ['take a coat'] }, MAIL]));
      await expect.poll(state, SLOW).toEqual([1, 2, 2, 2]);
      // Longer than the quiet time after which each would build by itself.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(await state()).toEqual([1, 2, 2, 2]);
      expect((await versions(a)).delta).toBe(0);
    },
    TEST_MS,
  );

  test(
    'refuse to build or go back while Redis is away, and serve on',
    async () => {
      const a = await start();
      await registerBoth(a);
      await rebuild(a);
      await cluster.redis.kill();
      for (const refused of [
        await rebuild(a),
        await call(a.url, 'POST', '/v1/index/rollback', { version: 'v000001' }),
      ]) {
        expect(refused).toMatchObject({ status: 503, body: { code: 'AR_ERR_STORE_UNAVAILABLE', retryable: true } });
      }
      expect(await answer(a, 'will it rain')).toEqual(['weather.query.city', 'v000001']);
      expect(await versions(a)).toMatchObject({ current: 'v000001', held: null, items: [{ id: 'v000001' }] });
    },
    TEST_MS,
  );
});
