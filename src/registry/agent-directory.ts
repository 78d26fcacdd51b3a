/**
 * Who is registered and how each is, in memory: the view that routing reads. A change replaces objects and never
 * touches what was handed out. A change costs O(capabilities of the agent); the list of a capability is made anew at
 * the first reading after a change of one of its agents.
 */
import type { CapabilityName, Clock } from '../core/index.ts';
import type { RegisteredAgent } from './agent-record.ts';
import type { InFlightBook } from './in-flight.ts';
import type { RegistryView } from './registry-view.ts';

interface Bucket {
  readonly members: Map<string, RegisteredAgent>;
  snapshot: readonly RegisteredAgent[] | undefined;
}

const NOBODY: readonly RegisteredAgent[] = Object.freeze([]);

export class AgentDirectory implements RegistryView {
  readonly #clock: Clock;
  readonly #inFlight: InFlightBook;
  #epoch = 0;
  readonly #agents = new Map<string, RegisteredAgent>();
  /** By namespace, then capability. */
  readonly #buckets = new Map<string, Map<string, Bucket>>();
  /** Made anew when somebody came or left, not at every beat. */
  #sortedIds: readonly string[] | undefined;

  /** Set by the health watch. */
  preserving = false;

  constructor(clock: Clock, inFlight: InFlightBook) {
    this.#clock = clock;
    this.#inFlight = inFlight;
  }

  get now(): number {
    return this.#clock.now();
  }

  inFlight(agentId: string): number {
    return this.#inFlight.count(agentId);
  }

  get epoch(): number {
    return this.#epoch;
  }

  get size(): number {
    return this.#agents.size;
  }

  agent(agentId: string): RegisteredAgent | undefined {
    return this.#agents.get(agentId);
  }

  agentsOf(namespace: string, capability: CapabilityName): readonly RegisteredAgent[] {
    const bucket = this.#buckets.get(namespace)?.get(capability);
    if (bucket === undefined) return NOBODY;
    bucket.snapshot ??= Object.freeze([...bucket.members.values()]);
    return bucket.snapshot;
  }

  hasCapability(namespace: string, capability: string): boolean {
    return this.#buckets.get(namespace)?.has(capability) ?? false;
  }

  /** In no particular order. */
  all(): Iterable<RegisteredAgent> {
    return this.#agents.values();
  }

  /** In order of agentId. */
  sorted(): RegisteredAgent[] {
    this.#sortedIds ??= [...this.#agents.keys()].sort();
    return this.#sortedIds.flatMap((agentId) => this.#agents.get(agentId) ?? []);
  }

  /** Adds the agent or replaces it. The epoch rises with what others can see: a revision, or the state. */
  put(agent: RegisteredAgent): void {
    const { agentId, namespace, capabilities } = agent.record;
    const old = this.#agents.get(agentId);
    this.#agents.set(agentId, agent);
    if (old === undefined) this.#sortedIds = undefined;
    if (old !== undefined && old.record.capabilities !== capabilities) this.#leaveBuckets(old);
    for (const { name } of capabilities) {
      const bucket = this.#bucket(namespace, name);
      bucket.members.set(agentId, agent);
      bucket.snapshot = undefined;
    }
    if (old?.record.revision !== agent.record.revision || old.liveness.state !== agent.liveness.state) {
      this.#epoch += 1;
    }
  }

  remove(agentId: string): void {
    const old = this.#agents.get(agentId);
    if (old === undefined) return;
    this.#agents.delete(agentId);
    this.#sortedIds = undefined;
    this.#leaveBuckets(old);
    this.#inFlight.forget(agentId);
    this.#epoch += 1;
  }

  /** For a change that is none of an agent: the dictionary's. */
  raiseEpoch(): void {
    this.#epoch += 1;
  }

  #leaveBuckets(agent: RegisteredAgent): void {
    const { agentId, namespace, capabilities } = agent.record;
    const names = this.#buckets.get(namespace);
    for (const { name } of capabilities) {
      const bucket = names?.get(name);
      if (bucket === undefined) continue;
      bucket.members.delete(agentId);
      bucket.snapshot = undefined;
      if (bucket.members.size === 0) names?.delete(name);
    }
    if (names?.size === 0) this.#buckets.delete(namespace);
  }

  #bucket(namespace: string, name: string): Bucket {
    let names = this.#buckets.get(namespace);
    if (names === undefined) {
      names = new Map();
      this.#buckets.set(namespace, names);
    }
    let bucket = names.get(name);
    if (bucket === undefined) {
      bucket = { members: new Map(), snapshot: undefined };
      names.set(name, bucket);
    }
    return bucket;
  }
}
