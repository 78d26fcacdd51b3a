/**
 * The way to the one master of a Redis Cluster that holds this service's keys: they share a hash tag, so one node has
 * them all. Who that is is asked of the cluster before each connection. So everything else is as with one server, one
 * connection and its order, and nothing is sent a second time by itself, as a client for many slots would.
 */
import { createConnection, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import type { NodeAddress, RedisAddress } from './redis-address.ts';

const ASK_TIMEOUT_MS = 1_000;
/** What a node answers that is not, or not now, the master of a key: who is must be asked again. */
const NOT_HERE = /^(MOVED|ASK|READONLY|CLUSTERDOWN|MASTERDOWN|UNBLOCKED) /;

type Range = readonly [from: number, to: number, master: readonly [host: string | null, port: number]];

/** Options of a connection to wherever this key is. */
export function clusterOptions(address: RedisAddress, key: string) {
  return {
    ...loginOf(address),
    Connector: connectorTo(address, key),
    reconnectOnError: ({ message }: Error) => NOT_HERE.test(message),
  } satisfies RedisOptions;
}

function connectorTo(address: RedisAddress, key: string): NonNullable<RedisOptions['Connector']> {
  // Those of the address may all be gone when the cluster is not.
  let known = address.cluster ?? [];
  return class ClusterConnector extends AbstractConnector {
    constructor(options: unknown) {
      super((options as { readonly disconnectTimeout: number }).disconnectTimeout);
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      const stream = await this.#open();
      this.stream = stream;
      if (!this.connecting) stream.destroy();
      return stream;
    }

    /** A stream that has failed where nobody knows: the client then tries again in its own time. */
    async #open(): Promise<Socket> {
      try {
        const { master, masters } = await Promise.any(known.map((node) => askNode(node, address, key)));
        known = unique([...masters, ...(address.cluster ?? [])]);
        const { host, port } = master;
        const stream = address.isTls ? connectTls({ host, port, servername: host }) : createConnection({ host, port });
        return stream.once('error', (error) => {
          this.firstError = error;
        });
      } catch (error) {
        this.firstError = error instanceof AggregateError ? (error.errors[0] as Error) : (error as Error);
        return new Socket().destroy();
      }
    }
  };
}

async function askNode(
  node: NodeAddress,
  address: RedisAddress,
  key: string,
): Promise<{ readonly master: NodeAddress; readonly masters: readonly NodeAddress[] }> {
  const redis = new Redis({
    ...node,
    ...loginOf(address),
    ...(address.isTls ? { tls: {} } : {}),
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: ASK_TIMEOUT_MS,
    commandTimeout: ASK_TIMEOUT_MS,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  let lastError: unknown;
  redis.on('error', (error) => {
    lastError = error;
  });
  try {
    await redis.connect();
    const slot = await redis.cluster('KEYSLOT', key);
    const ranges = (await redis.cluster('SLOTS')) as unknown as readonly Range[];
    // A node that does not know its own address names none: it is where it was reached.
    const addressOf = ([host, port]: Range[2]): NodeAddress => ({ host: host || node.host, port });
    const range = ranges.find(([from, to]) => from <= slot && slot <= to);
    if (range === undefined) throw new Error(`no node of the cluster has slot ${slot}`);
    return { master: addressOf(range[2]), masters: ranges.map(([, , master]) => addressOf(master)) };
  } catch (error) {
    throw lastError ?? error;
  } finally {
    redis.disconnect();
  }
}

function loginOf({ username, password }: RedisAddress) {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

const unique = (nodes: readonly NodeAddress[]): NodeAddress[] => [
  ...new Map(nodes.map((node) => [`${node.host}:${node.port}`, node])).values(),
];
