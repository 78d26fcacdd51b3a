/** A real Redis Cluster on free ports: three masters, and a replica of the one that has the service's keys. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisKeys } from '../../src/redis/index.ts';
import { freePort, TestRedis } from './redis-server.ts';

const SLOTS = 16_384;
const MASTERS = 3;

interface Node {
  readonly server: TestRedis;
  readonly busPort: number;
  readonly admin: Redis;
}

export class TestRedisCluster {
  readonly #nodes: readonly Node[];
  #home: Node;
  #replica: Node;

  private constructor(nodes: readonly Node[], home: Node, replica: Node) {
    this.#nodes = nodes;
    this.#home = home;
    this.#replica = replica;
  }

  static async start(): Promise<TestRedisCluster> {
    const nodes = await Promise.all(Array.from({ length: MASTERS + 1 }, startNode));
    const [first, ...others] = nodes as [Node, ...Node[]];
    const masters = nodes.slice(0, MASTERS);
    const replica = nodes[MASTERS] as Node;
    const firstSlot = (i: number): number => Math.floor((i * SLOTS) / MASTERS);
    await Promise.all(
      masters.map(({ admin }, i) => admin.cluster('ADDSLOTSRANGE', firstSlot(i), firstSlot(i + 1) - 1)),
    );
    for (const { server, busPort } of others) {
      await first.admin.call('CLUSTER', 'MEET', '127.0.0.1', `${server.port}`, `${busPort}`);
    }
    const slot = await first.admin.cluster('KEYSLOT', redisKeys().logId);
    const home = masters[Math.floor((slot * MASTERS) / SLOTS)] as Node;
    const cluster = new TestRedisCluster(nodes, home, replica);
    await cluster.#settled(masters);
    const homeId = await home.admin.cluster('MYID');
    await until(async () => String(await replica.admin.cluster('NODES')).includes(homeId));
    await replica.admin.call('CLUSTER', 'REPLICATE', homeId);
    await until(async () => (await replica.admin.info('replication')).includes('master_link_status:up'));
    return cluster;
  }

  /** Names a master without the keys first. */
  get url(): string {
    const nodes = this.#nodes.filter((node) => node !== this.#home);
    return `redis+cluster://${nodes.map(({ server }) => `127.0.0.1:${server.port}`).join(',')}`;
  }

  /** Of the node that has the keys. */
  get home(): Redis {
    return this.#home.admin;
  }

  /** A master that has other keys. */
  get elsewhere(): TestRedis {
    return (this.#nodes.find((node) => node !== this.#home && node !== this.#replica) as Node).server;
  }

  /** Master and replica change places; nothing is lost. */
  async failOver(): Promise<void> {
    await this.#replica.admin.call('CLUSTER', 'FAILOVER');
    await until(async () => (await this.#replica.admin.info('replication')).includes('role:master'));
    await until(async () => (await this.#home.admin.info('replication')).includes('master_link_status:up'));
    [this.#home, this.#replica] = [this.#replica, this.#home];
  }

  /** The master dies; the others see to it that its replica takes over. */
  async killHome(): Promise<void> {
    await this.#home.server.kill();
    await until(async () => (await this.#replica.admin.info('replication')).includes('role:master'));
    [this.#home, this.#replica] = [this.#replica, this.#home];
  }

  async stop(): Promise<void> {
    for (const { admin } of this.#nodes) admin.disconnect();
    await Promise.all(this.#nodes.map(({ server }) => server.stop()));
  }

  async #settled(masters: readonly Node[]): Promise<void> {
    for (const { admin } of masters) {
      await until(async () => {
        const info = await admin.cluster('INFO');
        return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${this.#nodes.length}`);
      });
    }
  }
}

async function startNode(): Promise<Node> {
  const busPort = await freePort();
  const server = await TestRedis.start(
    ...['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`],
    ...['--cluster-node-timeout', '1000', '--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
  );
  const admin = new Redis(server.url);
  admin.on('error', () => undefined);
  return { server, busPort, admin };
}

/** The cluster's own pace: nothing tells when its nodes agree. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  const endAt = performance.now() + 20_000;
  while (!(await isDone())) {
    if (performance.now() > endAt) throw new Error('the cluster did not come to it');
    await sleep(50);
  }
}
