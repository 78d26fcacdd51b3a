/** Several instances over one Redis: what one takes, the others know. Real processes, a real redis-server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasRedisServer } from '../storage/redis-server.ts';
import { call, registration } from './client.ts';
import type { HashService } from './hash-service.ts';
import { type RedisCluster, routed, startCluster } from './redis-cluster.ts';

describe.runIf(hasRedisServer)('three instances over one Redis', () => {
  let cluster: RedisCluster;
  let a: HashService;
  let b: HashService;
  let c: HashService;
  beforeAll(async () => {
    cluster = await startCluster(3);
    [a, b, c] = cluster.instances as [HashService, HashService, HashService];
  });
  afterAll(() => cluster.stop());

  test('route to what was registered at another one, and no more once it has left', async () => {
    const registered = await call(a.url, 'POST', '/v1/agents', registration('sky', ['sky.watch.star']));
    expect(registered.status).toBe(201);
    await expect.poll(() => routed(b, 'sky.watch.star')).toBe('sky');
    await expect.poll(() => routed(c, 'sky.watch.star')).toBe('sky');
    const { body: seen } = await call(c.url, 'GET', '/v1/agents/sky');
    expect(seen).toMatchObject({ incarnation: 1, state: 'online' });
    expect((await call(c.url, 'DELETE', '/v1/agents/sky')).status).toBe(204);
    await expect.poll(() => routed(a, 'sky.watch.star')).toBeNull();
    await expect.poll(() => routed(b, 'sky.watch.star')).toBeNull();
  });

  test('find by meaning what was registered at another one, without embedding it again', async () => {
    const described = [{ name: 'tea.brew.cup', description: 'Brew a cup of green tea' }];
    await call(a.url, 'POST', '/v1/agents', registration('tea', described));
    const ask = async (at: HashService) => {
      const { body } = await call(at.url, 'POST', '/v1/route', { intent: 'Brew a cup of green tea', minRelevance: 0 });
      return [body.capability, body.matchedBy];
    };
    await expect.poll(() => ask(b)).toEqual(['tea.brew.cup', 'semantic']);
  });

  test('make one record of one agent that registers at two of them at once, and take only its newest lease', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call(
          [a, b][i % 2]?.url ?? '',
          'POST',
          '/v1/agents',
          registration('twin', ['twin.do.it'], { version: `1.${i}` }),
        ),
      ),
    );
    expect(outcomes.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
    const incarnations = outcomes.map(({ body }) => body.incarnation as number).sort((x, y) => x - y);
    expect(incarnations).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
    const newest = outcomes.find(({ body }) => body.incarnation === 10)?.body.leaseId as string;
    const oldest = outcomes.find(({ body }) => body.incarnation === 1)?.body.leaseId as string;
    await expect.poll(async () => (await call(c.url, 'GET', '/v1/agents/twin')).body.incarnation).toBe(10);
    const beat = (leaseId: string) => call(c.url, 'PUT', '/v1/agents/twin/heartbeat', { leaseId });
    expect(await beat(oldest)).toMatchObject({ status: 409, body: { code: 'AR_ERR_STALE_LEASE' } });
    expect((await beat(newest)).status).toBe(200);
    const { body } = await call(b.url, 'GET', '/v1/agents?capability=twin.do.it');
    expect(body.items).toHaveLength(1);
  });

  test('share load, an operator’s fence, rules, the golden set and feedback', async () => {
    await call(a.url, 'POST', '/v1/agents', registration('tea', [{ name: 'tea.brew.cup' }]));
    const { body: lease } = await call(a.url, 'POST', '/v1/agents', registration('busy', ['busy.do.it']));
    await expect.poll(() => routed(b, 'busy.do.it')).toBe('busy');
    const load = { active: 5, queued: 1, max: 8 };
    await call(b.url, 'PUT', '/v1/agents/busy/heartbeat', { leaseId: lease.leaseId, load });
    await expect.poll(async () => (await call(c.url, 'GET', '/v1/agents/busy')).body.reportedLoad).toEqual(load);
    await call(a.url, 'POST', '/v1/agents/busy/cordon', { reason: 'a test' });
    await expect.poll(async () => (await call(c.url, 'GET', '/v1/agents/busy')).body.state).toBe('cordoned');

    const rule = { id: 'r', match: 'exact', patterns: ['brew'], capability: 'tea.brew.cup' };
    expect((await call(a.url, 'POST', '/v1/rules', rule)).status).toBe(201);
    const second = { ...rule, id: 'r2', patterns: ['brew two'] };
    await expect.poll(async () => (await call(b.url, 'GET', '/v1/rules')).body.items.length).toBe(1);
    expect((await call(b.url, 'POST', '/v1/rules', second)).status).toBe(201);
    await expect
      .poll(async () => (await call(c.url, 'POST', '/v1/route', { intent: 'brew two' })).body.ruleId)
      .toBe('r2');
    const [one, two] = await Promise.all([
      call(a.url, 'POST', '/v1/rules', { ...rule, id: 'from-a', patterns: ['x a'] }),
      call(b.url, 'POST', '/v1/rules', { ...rule, id: 'from-b', patterns: ['x b'] }),
    ]);
    expect([one?.status, two?.status]).toEqual([201, 201]);
    await expect
      .poll(async () => (await call(c.url, 'GET', '/v1/rules')).body.items.map(({ id }: { id: string }) => id).sort())
      .toEqual(['from-a', 'from-b', 'r', 'r2']);

    await call(a.url, 'POST', '/v1/index/golden', { lines: [{ id: 'g', text: 'brew', capability: 'tea.brew.cup' }] });
    await expect.poll(async () => (await call(b.url, 'GET', '/v1/index/golden')).body.items.length).toBe(1);
    await call(b.url, 'POST', '/v1/feedback', { intent: 'make tea', correct: 'tea.brew.cup' });
    await expect.poll(async () => (await call(c.url, 'GET', '/v1/feedback')).body.pending).toBe(1);
  });

  test('share the strategies put over the API, and let one of two edits of one version win', async () => {
    const strategies = async (at: HashService) => (await call(at.url, 'GET', '/v1/strategies')).body;
    const versions = async () => (await Promise.all([a, b, c].map(strategies))).map((one) => one.strategiesVersion);
    const before = (await strategies(a)).strategiesVersion as string;
    expect(await versions()).toEqual([before, before, before]);
    const put = (at: HashService, queueLoad: number, version: string) =>
      call(at.url, 'PUT', '/v1/strategies', { default: { queueLoad } }, { 'if-match': `"${version}"` });
    const edits = await Promise.all([put(a, 0.5, before), put(b, 0.6, before)]);
    expect(edits.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = edits.find(({ status }) => status === 200)?.body.strategiesVersion as string;
    await expect.poll(versions).toEqual([won, won, won]);
    expect((await strategies(c)).source).toBe('api');
    expect((await call(c.url, 'DELETE', '/v1/strategies')).status).toBe(200);
    await expect.poll(versions).toEqual([before, before, before]);
  });
});
