/** Instances of the built service over a real Redis Cluster whose master with their keys changes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TestRedisCluster } from '../storage/redis-cluster-server.ts';
import { hasRedisServer } from '../storage/redis-server.ts';
import { call, registration } from './client.ts';
import { type HashService, startHashService } from './hash-service.ts';
import { routed } from './redis-cluster.ts';

describe.runIf(hasRedisServer)('instances over a Redis Cluster', () => {
  test('share agents and beats, and go on after a failover', async () => {
    const cluster = await TestRedisCluster.start();
    const folder = mkdtempSync(join(tmpdir(), 'agent-reach-slots-'));
    const instances: HashService[] = [];
    onTestFinished(async () => {
      for (const { child } of instances) child.kill('SIGKILL');
      await Promise.all(instances.map(({ died }) => died));
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    for (const name of ['a', 'b']) {
      instances.push(await startHashService({ data: { dir: join(folder, name) }, redis: { url: cluster.url } }));
    }
    const [a, b] = instances as [HashService, HashService];
    const register = (at: HashService, agentId: string) =>
      call(at.url, 'POST', '/v1/agents', registration(agentId, [`${agentId}.do.it`]));
    const { body: lease } = await register(a, 'first');
    await expect.poll(() => routed(b, 'first.do.it')).toBe('first');
    await cluster.failOver();
    await expect.poll(async () => (await register(b, 'second')).status, { timeout: 10_000 }).toBeLessThan(202);
    await expect.poll(() => routed(a, 'second.do.it'), { timeout: 10_000 }).toBe('second');
    const beat = () => call(a.url, 'PUT', '/v1/agents/first/heartbeat', { leaseId: lease.leaseId });
    await expect.poll(async () => (await beat()).status, { timeout: 5_000 }).toBe(200);
    for (const { url } of instances) {
      expect((await call(url, 'GET', '/healthz')).body.stale).toBeUndefined();
      expect((await call(url, 'GET', '/readyz')).body.checks.store.ok).toBe(true);
    }
  }, 60_000);
});
