/**
 * Where Redis is, as REDIS_URL says it: one server, or nodes of a Redis Cluster to ask for the others. What is told of
 * it never holds the password.
 */
import { AgentReachError } from '../core/index.ts';

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  /** Without user, password and options. */
  readonly place: string;
  /** For one server: the address as given, which may hold options of the client. */
  readonly url: string;
  /** Of a cluster: the nodes that are asked first. null: one server. */
  readonly cluster: readonly NodeAddress[] | null;
  /** Of a cluster. */
  readonly username?: string;
  readonly password?: string;
  readonly isTls: boolean;
}

export const REDIS_URL_FORM =
  'redis://[user:password@]host[:port][/database], or redis+cluster://[user:password@]host[:port][,host[:port]…], with rediss for TLS';
const DEFAULT_PORT = 6379;

/** null for what cannot be read. */
export function readRedisAddress(url: string): RedisAddress | null {
  const cluster = /^(rediss?)[+-]cluster:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/0?)?$/.exec(url);
  if (cluster !== null) return clusterAddress(url, cluster);
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '') return null;
  const { protocol, host, pathname } = parsed;
  const place = `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
  return { place, url, cluster: null, isTls: protocol === 'rediss:' };
}

/** Error: AR_ERR_STORE_UNAVAILABLE for what cannot be read. */
export function redisAddress(url: string): RedisAddress {
  const address = readRedisAddress(url);
  if (address === null) {
    throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE', { detail: `REDIS_URL must be ${REDIS_URL_FORM}` });
  }
  return address;
}

/** null where a `%` begins nothing. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function clusterAddress(url: string, [, scheme = '', login = '', hosts = '']: RegExpExecArray): RedisAddress | null {
  const nodes = hosts.split(',').map((host) => `redis://${login}@${host}`);
  if (!nodes.every((node) => URL.canParse(node) && new URL(node).hostname !== '')) return null;
  const parsed = nodes.map((node) => new URL(node));
  const username = decoded(parsed[0]?.username ?? '');
  const password = decoded(parsed[0]?.password ?? '');
  if (username === null || password === null) return null;
  return {
    place: `${scheme}+cluster://${hosts}`,
    url,
    // An IPv6 address is written in brackets, and connected to without.
    cluster: parsed.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? DEFAULT_PORT : Number(port),
    })),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    isTls: scheme === 'rediss',
  };
}
