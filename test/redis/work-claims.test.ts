/** Claims of work and of texts, and which instances run, on a real redis-server. */
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import {
  InstancePresence,
  type RedisLink,
  RedisTime,
  redisKeys,
  TextClaims,
  WorkClaims,
} from '../../src/redis/index.ts';
import { hasRedisServer, type TestRedis } from '../storage/redis-server.ts';
import { DATA, freshRedis } from './fresh-redis.ts';

describe.runIf(hasRedisServer)('claims', () => {
  let server: TestRedis;
  let redis: Redis;
  const keys = redisKeys();
  freshRedis((started, client) => {
    server = started;
    redis = client;
  });

  function linkOf(instance: string): RedisLink & { readonly clock: ManualClock } {
    return { redis, place: server.url, keys, data: DATA, clock: new ManualClock(), time: new RedisTime(), instance };
  }

  test('give work to one instance at a time, under a number that rises', async () => {
    const [a, b] = [new WorkClaims(linkOf('a')), new WorkClaims(linkOf('b'))];
    const first = await a.take('build');
    expect(first?.fence).toBe(1);
    expect(await b.take('build')).toBeUndefined();
    expect((await b.take('other'))?.fence).toBe(1);
    await first?.release();
    expect((await b.take('build'))?.fence).toBe(2);
    expect(await a.take('build')).toBeUndefined();
  });

  test('say where Redis is that is away, and hold nothing then', async () => {
    const away = new Redis(server.url, { lazyConnect: true, enableOfflineQueue: false });
    const link = { ...linkOf('a'), redis: away };
    const refusal = {
      code: 'AR_ERR_STORE_UNAVAILABLE',
      message: `Redis at ${server.url} is away: not connected; trying again`,
    };
    await expect(new WorkClaims(link).take('build')).rejects.toMatchObject(refusal);
    await expect(new TextClaims(link).take('model', ['hash'])).rejects.toMatchObject(refusal);
    await expect(new InstancePresence(link).tell('model', '{}')).rejects.toMatchObject(refusal);
    away.disconnect();
  });

  test('are made over no other data than this instance has read', async () => {
    await redis.set(keys.logId, 'what others put there');
    const link = linkOf('a');
    const refusal = { code: 'AR_ERR_STORE_UNAVAILABLE', message: expect.stringContaining('holds other data') };
    await expect(new WorkClaims(link).take('build')).rejects.toMatchObject(refusal);
    await expect(new TextClaims(link).take('model', ['hash'])).rejects.toMatchObject(refusal);
    await expect(new InstancePresence(link).tell('model', '{}')).rejects.toMatchObject(refusal);
    expect(await redis.keys('*')).toEqual([keys.logId]);
  });

  test('number above what the caller has seen, so that a lost counter repeats none', async () => {
    const claims = new WorkClaims(linkOf('a'));
    const claim = await claims.take('build', { above: 7 });
    expect(claim?.fence).toBe(8);
    await claim?.release();
    expect((await claims.take('build', { above: 3 }))?.fence).toBe(9);
  });

  test('are kept while they are renewed, and lost where another one takes them by force', async () => {
    const [a, b] = [linkOf('a'), linkOf('b')];
    const claim = await new WorkClaims(a).take('build');
    await redis.pexpire(keys.work('build'), 200);
    a.clock.advance(1_000);
    await expect.poll(() => redis.pttl(keys.work('build'))).toBeGreaterThan(4_000);
    expect(claim?.lost.aborted).toBe(false);
    const forced = await new WorkClaims(b).take('build', { byForce: true });
    expect(forced?.fence).toBe(2);
    a.clock.advance(1_000);
    await expect.poll(() => claim?.lost.aborted).toBe(true);
    expect(await claim?.confirm()).toBe(false);
    // A claim that is another's by now is not given back.
    await claim?.release();
    expect(await redis.get(keys.work('build'))).toBe('b/1');
  });

  test('are lost by the own clock too, for a process that was stopped', async () => {
    const a = linkOf('a');
    const claim = await new WorkClaims(a).take('build');
    a.clock.advance(6_000);
    expect(claim?.lost.aborted).toBe(true);
  });

  test('give each text to one instance, once to each of its own callers, until it is released or lapses', async () => {
    const [a, b] = [linkOf('a'), linkOf('b')];
    const [ofA, ofB] = [new TextClaims(a), new TextClaims(b)];
    const first = await ofA.take('model', ['x', 'y']);
    expect(first.mine).toEqual(['x', 'y']);
    expect((await ofB.take('model', ['y', 'z'])).mine).toEqual(['z']);
    expect((await ofA.take('model', ['y', 'z'])).mine).toEqual([]);
    expect((await ofB.take('another model', ['y'])).mine).toEqual(['y']);
    await redis.pexpire(keys.text('model', 'x'), 100);
    a.clock.advance(1_000);
    await expect.poll(() => redis.pttl(keys.text('model', 'x'))).toBeGreaterThan(2_000);
    await first.release();
    expect((await ofB.take('model', ['x', 'y'])).mine).toEqual(['x', 'y']);
    await redis.del(keys.text('model', 'x'));
    expect((await ofA.take('model', ['x', 'y'])).mine).toEqual(['x']);
  });

  test('tell which instances run, and which models ran', async () => {
    const [a, b] = [new InstancePresence(linkOf('a')), new InstancePresence(linkOf('b'))];
    await a.tell('model 1', 'first {"note": 1}');
    const heard = await b.tell('model 2', 'second');
    expect(heard.instances.map(({ instance, note }) => [instance, note]).sort()).toEqual([
      ['a', 'first {"note": 1}'],
      ['b', 'second'],
    ]);
    expect(heard.instances.every(({ agoMs }) => agoMs >= 0 && agoMs < 5_000)).toBe(true);
    await a.leave();
    const later = await b.tell('model 2', 'second');
    expect(later.instances.map(({ instance }) => instance)).toEqual(['b']);
    expect(later.models.map(({ fingerprint }) => fingerprint).sort()).toEqual(['model 1', 'model 2']);
    await redis.hset(keys.instances, 'silent', '1000 note');
    await redis.zadd(keys.models, 1_000, 'model 0');
    const last = await b.tell('model 2', 'second');
    expect(last.instances).toHaveLength(1);
    expect(last.models).toHaveLength(2);
    expect(await redis.hexists(keys.instances, 'silent')).toBe(0);
  });
});
