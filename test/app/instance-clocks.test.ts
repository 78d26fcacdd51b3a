/** Instances whose wall clocks differ: lives of agents hang on the clock of Redis and on clocks that never go back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compileConfig, type RunningService, startService } from '../../src/app/index.ts';
import { systemClock } from '../../src/core/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { hasRedisServer, TestRedis } from '../storage/redis-server.ts';
import { call, registration } from './client.ts';

async function startWith(wallAheadMs: number, redisUrl: string): Promise<RunningService> {
  const dir = mkdtempSync(join(tmpdir(), 'agent-reach-clock-'));
  const config = compileConfig({
    http: { port: 0 },
    data: { dir },
    redis: { url: redisUrl },
    log: { level: 'silent' },
    index: { rebuildDebounceMs: 0, rebuildMaxWaitMs: 0 },
  });
  const clock = { ...systemClock, wallNow: () => systemClock.wallNow() + wallAheadMs };
  const service = await startService(config, { clock, embedder: new HashEmbedder() });
  onTestFinished(async () => {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return service;
}

describe.runIf(hasRedisServer).each([-600_000, 600_000])('a sweeper whose wall clock is off by %i ms', (aheadMs) => {
  test('evicts nobody that beats at another instance, and marks the silent in time', async () => {
    const redis = await TestRedis.start();
    onTestFinished(() => redis.stop());
    const off = await startWith(aheadMs, redis.url);
    const right = await startWith(0, redis.url);
    const brief = { heartbeatIntervalMs: 1_000 };
    const { body: lease } = await call(right.url, 'POST', '/v1/agents', registration('alive', ['alive.do.it'], brief));
    await call(off.url, 'POST', '/v1/agents', registration('silent', ['silent.do.it'], brief));
    const state = async (at: RunningService, agentId: string): Promise<string> =>
      (await call(at.url, 'GET', `/v1/agents/${agentId}`)).body.state;
    const startedAt = performance.now();
    const seen = new Set<unknown>();
    const beat = async (): Promise<void> => {
      const { status } = await call(right.url, 'PUT', '/v1/agents/alive/heartbeat', { leaseId: lease.leaseId });
      for (const one of [status, await state(off, 'alive'), await state(right, 'alive')]) seen.add(one);
    };
    const silent = async (): Promise<string[]> => {
      await beat();
      return [await state(off, 'silent'), await state(right, 'silent')];
    };
    await expect.poll(silent, { timeout: 10_000, interval: 100 }).toEqual(['offline', 'offline']);
    expect(performance.now() - startedAt).toBeGreaterThan(2_500);
    await beat();
    expect([...seen]).toEqual([200, 'online']);
  });
});
