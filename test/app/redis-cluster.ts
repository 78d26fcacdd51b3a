/** Instances of the built service over one real Redis, as processes of their own, and what tests ask of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestRedis } from '../storage/redis-server.ts';
import { call } from './client.ts';
import { type HashService, startHashService } from './hash-service.ts';

export interface RedisCluster {
  readonly redis: TestRedis;
  readonly instances: readonly HashService[];
  /** One instance more, in a data folder of its own, that reaches Redis at this address; other dimensions, other model. */
  add(redisUrl?: string, more?: { readonly config?: object; readonly dimensions?: number }): Promise<HashService>;
  stop(): Promise<void>;
}

export async function startCluster(count: number, ...redisOptions: string[]): Promise<RedisCluster> {
  const redis = await TestRedis.start(...redisOptions);
  const folder = mkdtempSync(join(tmpdir(), 'agent-reach-cluster-'));
  const instances: HashService[] = [];
  let started = 0;
  const add: RedisCluster['add'] = async (url = redis.url, { config = {}, dimensions } = {}) => {
    const dir = join(folder, `data-${started++}`);
    const instance = await startHashService({ data: { dir }, redis: { url }, ...config }, dimensions);
    instances.push(instance);
    return instance;
  };
  const stop = async (): Promise<void> => {
    for (const { child } of instances) child.kill('SIGKILL');
    await Promise.all(instances.map(({ died }) => died));
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // The first one is the sweeper.
    if (count > 0) await add();
    await Promise.all(Array.from({ length: Math.max(0, count - 1) }, () => add()));
  } catch (error) {
    // A test that cannot begin stops nothing itself.
    await stop();
    throw error;
  }
  return { redis, instances, add, stop };
}

/** Id of the agent that the instance routes to, null for none. */
export async function routed(instance: HashService, capability: string): Promise<string | null> {
  const { body } = await call(instance.url, 'POST', '/v1/route', { capability });
  return body.agent?.agentId ?? null;
}
