/**
 * One connection to Redis that never queues without bound: while it is down every command fails at once, in the
 * background it tries again for ever with back-off. What is told of it never holds the password.
 */
import { Redis, type RedisOptions } from 'ioredis';
import { AgentReachError, backoffMs, errorText, log } from '../core/index.ts';
import { clusterOptions } from './cluster-connector.ts';
import { redisAddress } from './redis-address.ts';

export type { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 3_000;
/** Longest wait for one answer: a commit is refused after it. */
export const COMMAND_TIMEOUT_MS = 5_000;
/**
 * Without a byte for so long while an answer is due, the link loses packets: it is cut, whatever waits on it fails, and
 * a new one is tried. A process that itself stood still for longer cuts its link too.
 */
export const SILENCE_TIMEOUT_MS = 2_000;
/** The first with RESP3 and HELLO. */
const OLDEST_MAJOR = 6;

/**
 * To where this key is, should there be several nodes. Error: AR_ERR_STORE_UNAVAILABLE for a wrong address, password
 * or version, within seconds.
 */
export async function connectRedis(url: string, key: string): Promise<Redis> {
  const address = redisAddress(url);
  const { place } = address;
  let isOpened = false;
  const options = {
    lazyConnect: true,
    connectionName: 'agent-reach',
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // What was asked of a connection that broke fails at once, not at its timeout.
    maxRetriesPerRequest: 0,
    // Before the first success a failure is the operator's to see, not ours to outwait.
    retryStrategy: (attempts: number) =>
      isOpened ? backoffMs(attempts, { baseMs: 100, capMs: 2_000 }, Math.random()) : null,
  } satisfies RedisOptions;
  const redis =
    address.cluster === null ? new Redis(url, options) : new Redis({ ...options, ...clusterOptions(address, key) });
  let lastError: unknown;
  redis.on('error', (error) => {
    lastError = error;
    if (isOpened) log('warn', 'the connection to Redis failed; trying again', { place, reason: errorText(error) });
  });
  try {
    await redis.connect();
    await assertVersion(redis);
    isOpened = true;
    return redis;
  } catch (error) {
    redis.disconnect();
    const reason = errorText(lastError ?? error);
    throw unavailable(`Redis at ${place} cannot be used (${reason}): check REDIS_URL`, error);
  }
}

async function assertVersion(redis: Redis): Promise<void> {
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown';
  if (Number.parseInt(version, 10) >= OLDEST_MAJOR) return;
  throw new Error(`it is version ${version}, ${OLDEST_MAJOR} or later is needed`);
}

function unavailable(detail: string, cause?: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_STORE_UNAVAILABLE', cause === undefined ? { detail } : { detail, cause });
}
