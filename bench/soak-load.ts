/**
 * Everything that a service is asked for in a long day, at a moderate rate: agents come, change their texts, beat and
 * leave; routes cold and cached, batches, rule edits, rebuilds. Names come from a fixed pool, since the dictionary
 * keeps every name by design; texts are never the same twice.
 */
import { RECENT_INTENTS } from '../src/http/recent-intents.ts';
import { request } from './texts.ts';

const AGENTS = 200;
const NAMES = 60;
const RULES = 20;
const TICK_MS = 100;
/** More than this waiting means that the machine is too slow for the rate: it is lowered, and nothing piles up. */
const MAX_IN_FLIGHT = 64;
const REBUILD_EVERY_TICKS = 300;
const BATCH = 32;

export interface SoakCounts {
  readonly byStatus: ReadonlyMap<number, number>;
  /** Those left out included. */
  readonly ticks: number;
  readonly skippedTicks: number;
}

export class SoakLoad {
  readonly #url: string;
  readonly #leases = new Map<string, string>();
  /** Agents with a request under way: two at once would refuse each other's lease. */
  readonly #busy = new Set<string>();
  readonly #byStatus = new Map<number, number>();
  readonly #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #skippedTicks = 0;
  #nextText = 40_000_000;

  constructor(url: string) {
    this.#url = url;
  }

  get counts(): SoakCounts {
    return {
      byStatus: this.#byStatus,
      ticks: this.#tick + this.#skippedTicks,
      skippedTicks: this.#skippedTicks,
    };
  }

  async start(): Promise<void> {
    for (let i = 0; i < AGENTS; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, k) => this.#register(`soak-${i + k}`)));
    }
    await this.#fillMemories();
    this.#timer = setInterval(() => this.#turn(), TICK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#inFlight);
  }

  /** What is remembered of the last routes is bounded; while it fills it would look like a leak. */
  async #fillMemories(): Promise<void> {
    for (let sent = 0; sent < RECENT_INTENTS; sent += BATCH) {
      await this.#batch(Array.from({ length: BATCH }, (_, i) => request(i)));
    }
  }

  #turn(): void {
    if (this.#inFlight.size > MAX_IN_FLIGHT) {
      this.#skippedTicks++;
      return;
    }
    const tick = this.#tick++;
    const name = (offset: number): string => `soak-${(tick * 7 + offset) % AGENTS}`;
    this.#run(this.#route(request(this.#nextText++)));
    this.#run(this.#route(request(tick % 50)));
    this.#run(this.#beat(name(0)));
    if (tick % 5 === 0) this.#run(this.#register(name(1)));
    if (tick % 5 === 2) this.#run(this.#withdraw(name(2)).then(() => this.#register(name(2))));
    if (tick % 10 === 4) {
      const intents = Array.from({ length: 8 }, (_, i) => request(i % 2 === 0 ? this.#nextText++ : i));
      this.#run(this.#batch(intents));
    }
    if (tick % 20 === 6) this.#run(this.#rule(tick / 20));
    if (tick % REBUILD_EVERY_TICKS === 100)
      this.#run(this.#send('POST', '/v1/index/rebuild', {}).then(() => undefined));
  }

  #run(work: Promise<void>): void {
    const tracked = work.catch(() => this.#count(0)).finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }

  async #route(intent: string): Promise<void> {
    await this.#send('POST', '/v1/route', { intent });
  }

  async #batch(intents: readonly string[]): Promise<void> {
    await this.#send('POST', '/v1/route/batch', { requests: intents.map((intent) => ({ intent })) });
  }

  #register(agentId: string): Promise<void> {
    return this.#alone(agentId, async () => {
      const n = this.#nextText++;
      const name = `soak.do.work_${Number(agentId.slice('soak-'.length)) % NAMES}`;
      const capability = { name, description: request(n), examples: [request(n + 500_000_000)] };
      const transport = { type: 'local' };
      const text = await this.#send('POST', '/v1/agents', { agentId, capabilities: [capability], transport });
      const { leaseId } = JSON.parse(text) as { leaseId?: string };
      if (leaseId !== undefined) this.#leases.set(agentId, leaseId);
    });
  }

  #beat(agentId: string): Promise<void> {
    return this.#alone(agentId, async () => {
      const leaseId = this.#leases.get(agentId);
      if (leaseId === undefined) return;
      const load = { active: this.#tick % 8, max: 8 };
      await this.#send('PUT', `/v1/agents/${agentId}/heartbeat`, { leaseId, load });
    });
  }

  #withdraw(agentId: string): Promise<void> {
    return this.#alone(agentId, async () => {
      if (this.#leases.delete(agentId)) await this.#send('DELETE', `/v1/agents/${agentId}`);
    });
  }

  async #rule(n: number): Promise<void> {
    const id = `soak-${Math.floor(n) % RULES}`;
    const patterns = [`soak pattern ${this.#tick}`];
    await this.#send('POST', '/v1/rules', { id, match: 'contains', patterns, capability: 'soak.do.work_1' });
  }

  async #alone(agentId: string, work: () => Promise<void>): Promise<void> {
    if (this.#busy.has(agentId)) return;
    this.#busy.add(agentId);
    try {
      await work();
    } finally {
      this.#busy.delete(agentId);
    }
  }

  async #send(method: string, path: string, body?: unknown): Promise<string> {
    const response = await fetch(this.#url + path, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    this.#count(response.status);
    return text;
  }

  #count(status: number): void {
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
  }
}
