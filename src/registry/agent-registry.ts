/**
 * Who is registered, what they can do and who is alive. Every answer that says "done" is durable and routable; when a
 * change fails, nothing has changed. Reads and heartbeats are answered from memory and never wait for the store.
 */
import {
  type Admission,
  type CapabilityDictionary,
  checkSchemas,
  type DictionaryEntry,
  readDefinitions,
} from '../capability/index.ts';
import type {
  AgentPage,
  AgentState,
  AgentView,
  CapabilityPage,
  CapabilityUpdate,
  CapabilityView,
  Heartbeat,
  HeartbeatReply,
  ListAgentsQuery,
  ListCapabilitiesQuery,
  Registration,
  RegistrationReply,
  Warning,
} from '../contract/index.ts';
import { AgentReachError, type Clock, canonicalText, newLeaseId, publish } from '../core/index.ts';
import type { EventBus } from '../events/index.ts';
import { AgentLedger } from './agent-ledger.ts';
import { agentView, listAgents } from './agent-listing.ts';
import type { AgentRecord, RegisteredAgent } from './agent-record.ts';
import type { AgentStore } from './agent-store.ts';
import type { CapabilityIndex } from './capability-index.ts';
import { CapabilityListing } from './capability-listing.ts';
import { assertEndpoints } from './endpoint-policy.ts';
import { beaten } from './heartbeat.ts';
import { isExpired, isExpirySoon, nextHeartbeatMs } from './lease.ts';
import { LeaseReaper } from './lease-reaper.ts';
import { expiryOf, freshAgent, recordOf } from './registration.ts';
import type { RegistryView } from './registry-view.ts';
import { RegistryWriter } from './registry-writer.ts';

export interface AgentRegistryOptions {
  /** How long an offline agent is kept for inspection before it is evicted. Default 24 h; 0 evicts at once. */
  readonly keepOfflineMs: number;
  /** Intervals without a beat until an agent is offline. Default 3; more forgives more and notices later. */
  readonly missedBeats: number;
}

export const DEFAULT_REGISTRY: AgentRegistryOptions = { keepOfflineMs: 24 * 3_600_000, missedBeats: 3 };

export interface AgentRegistryParts {
  readonly clock: Clock;
  /** 0..1, for jitter. */
  readonly random: () => number;
  readonly store: AgentStore;
  readonly dictionary: CapabilityDictionary;
  readonly index: CapabilityIndex;
  readonly bus: EventBus;
  readonly options?: Partial<AgentRegistryOptions>;
}

export class AgentRegistry {
  readonly #parts: AgentRegistryParts;
  readonly #ledger: AgentLedger;
  readonly #writer: RegistryWriter;
  readonly #reaper: LeaseReaper;
  readonly #capabilities: CapabilityListing;

  constructor(parts: AgentRegistryParts) {
    this.#parts = parts;
    this.#ledger = new AgentLedger(parts);
    this.#writer = new RegistryWriter(parts.store, this.#ledger.directory);
    const options = { ...DEFAULT_REGISTRY, ...parts.options };
    this.#reaper = new LeaseReaper({ clock: parts.clock, ledger: this.#ledger, writer: this.#writer, ...options });
    this.#capabilities = new CapabilityListing(parts.dictionary, this.#ledger.directory, this.#ledger.book);
  }

  get view(): RegistryView {
    return this.#ledger.directory;
  }

  /**
   * Takes over what the store holds: once, before anything else. Agents that were alive get one full lease from now,
   * since their silence may have been ours. Error: AR_ERR_STORE_UNAVAILABLE.
   */
  async load(): Promise<void> {
    const { clock, dictionary, store } = this.#parts;
    const { agents, entries } = await store.load();
    const nowAt = clock.wallNow();
    dictionary.load(entries);
    const loaded = agents.map((record) => freshAgent(record, record.offlineAt ?? nowAt));
    this.#ledger.load(loaded);
    for (const agent of loaded) {
      if (agent.record.offlineAt === null && hasExpired(agent.record, nowAt)) this.#reaper.takeOffline(agent);
      else this.#reaper.watch(agent);
    }
  }

  /**
   * One agent, one record, however often it starts: each start gets a new lease and a higher incarnation. Errors:
   * AR_ERR_INVALID_CAPABILITY, _SCHEMA, _ENDPOINT, _REQUEST; AR_ERR_CAPABILITY_NOT_APPROVED, _DEPRECATED;
   * AR_ERR_OVERLOADED; AR_ERR_STORE_UNAVAILABLE; AR_ERR_STOPPING.
   */
  async register(registration: Registration): Promise<{ reply: RegistrationReply; created: boolean }> {
    const { clock, dictionary } = this.#parts;
    const known = { [Symbol.iterator]: () => dictionary.names(registration.namespace)[Symbol.iterator]() };
    const definitions = readDefinitions(registration.capabilities, known);
    assertEndpoints(registration.transport);
    expiryOf(registration, clock.wallNow());
    return this.#writer.inTurn(registration.agentId, async () => {
      // In turn: one with large schemas must not be overtaken by what the agent says after it.
      await checkSchemas(definitions);
      const old = this.#ledger.directory.agent(registration.agentId);
      const record = recordOf(registration, definitions, {
        leaseId: newLeaseId(),
        incarnation: (old?.record.incarnation ?? 0) + 1,
        registeredAt: clock.wallNow(),
      });
      const entriesBefore = this.#entriesOf(record);
      const early = await this.#admit(record);
      publish('step', { name: 'register.admitted' });
      const meanings = this.#ledger.book.meaningsWith(old?.record, record, early.entries);
      const prepared = await this.#parts.index.prepare(meanings);
      publish('step', { name: 'register.prepared' });
      // Asked again where the dictionary moved on while texts were embedded; not always, since the lint costs most.
      const isCurrent = this.#entriesOf(record).every((entry, i) => entry === entriesBefore[i]);
      const { entries, warnings } = isCurrent ? early : await this.#admit(record);
      const stored = await this.#writer.commitAgent(record, entries);
      publish('step', { name: 'register.committed' });
      const agent = freshAgent(record, clock.wallNow());
      this.#ledger.admit(agent, stored);
      this.#reaper.watch(agent);
      publish('step', { name: 'register.applied' });
      return { reply: replyOf(record, [...warnings, ...prepared]), created: old === undefined };
    });
  }

  /** Errors: AR_ERR_AGENT_NOT_FOUND; AR_ERR_STALE_LEASE, which changes nothing. */
  heartbeat(agentId: string, beat: Heartbeat): HeartbeatReply {
    const agent = this.#ownedBy(agentId, beat.leaseId);
    const nowAt = this.#parts.clock.wallNow();
    const isOver = hasExpired(agent.record, nowAt);
    const isBack = agent.record.offlineAt !== null && !isOver;
    const record = isBack ? { ...agent.record, offlineAt: null } : agent.record;
    let current = { record, liveness: beaten(agent.liveness, beat, record.offlineAt !== null, nowAt) };
    this.#ledger.replace(current);
    if (!isOver) this.#reaper.watch(current);
    else if (record.offlineAt === null) current = this.#reaper.takeOffline(current);
    if (isBack) this.#writer.syncAgent(agentId);
    return {
      agentId: record.agentId,
      incarnation: record.incarnation,
      state: current.liveness.state,
      nextHeartbeatMs: nextHeartbeatMs(record.heartbeatIntervalMs, this.#parts.random()),
      warnings: expiryWarnings(record, nowAt),
    };
  }

  /**
   * Leaves for good; `leaseId` null is an operator's word. Never routed once this resolves; still registered when it
   * rejects. Errors: AR_ERR_AGENT_NOT_FOUND; AR_ERR_STALE_LEASE; AR_ERR_STORE_UNAVAILABLE; AR_ERR_STOPPING.
   */
  async withdraw(agentId: string, leaseId: string | null): Promise<void> {
    await this.#writer.inTurn(agentId, async () => {
      const { agentId: id } = this.#ownedBy(agentId, leaseId).record;
      await this.#writer.removeAgent(id);
      const latest = this.#ledger.directory.agent(agentId);
      if (latest === undefined) return;
      this.#reaper.forget(agentId);
      this.#ledger.remove(latest, 'agent.withdrawn');
    });
  }

  /** Error: AR_ERR_AGENT_NOT_FOUND. */
  get(agentId: string): AgentView {
    return agentView(this.#known(agentId));
  }

  /** Error: AR_ERR_INVALID_CURSOR. */
  list(query: ListAgentsQuery): AgentPage {
    return listAgents(this.#ledger.directory, query);
  }

  /** Error: AR_ERR_INVALID_CURSOR. */
  capabilities(query: ListCapabilitiesQuery): CapabilityPage {
    return this.#capabilities.list(query);
  }

  /** Errors: AR_ERR_INVALID_CAPABILITY; AR_ERR_CAPABILITY_NOT_FOUND. */
  capability(namespace: string, name: string): CapabilityView {
    return this.#capabilities.get(namespace, name);
  }

  /** An operator's word. Errors: those of `CapabilityDictionary.update`; AR_ERR_STORE_UNAVAILABLE; AR_ERR_STOPPING. */
  async updateCapability(namespace: string, name: string, update: CapabilityUpdate): Promise<CapabilityView> {
    return this.#writer.inTurn(entryLane(namespace, name), () => this.#update(namespace, name, update));
  }

  /**
   * Adds an operator's example, found by routes when this resolves; false where it was one already. Errors: those of
   * `updateCapability`; AR_ERR_CAPABILITY_DEPRECATED.
   */
  async addExample(namespace: string, name: string, example: string): Promise<boolean> {
    return this.#writer.inTurn(entryLane(namespace, name), async () => {
      const { status, operatorExamples } = this.#capabilities.get(namespace, name);
      if (status === 'deprecated') {
        throw new AgentReachError('AR_ERR_CAPABILITY_DEPRECATED', { detail: `${name} is deprecated` });
      }
      const canonical = canonicalText(example);
      if (operatorExamples.some((one) => canonicalText(one) === canonical)) return false;
      await this.#update(namespace, name, { examples: [...operatorExamples, example] });
      return true;
    });
  }

  /** Agents by state, zeros included. */
  counts(): Record<AgentState, number> {
    const counts = { online: 0, suspect: 0, busy: 0, draining: 0, ejected: 0, cordoned: 0, offline: 0 };
    for (const agent of this.#ledger.directory.all()) counts[agent.liveness.state] += 1;
    return counts;
  }

  /** Ends timers, refuses further changes and waits for those on their way to the store. */
  async stop(): Promise<void> {
    this.#reaper.stop();
    await this.#writer.stop();
  }

  async #update(namespace: string, name: string, update: CapabilityUpdate): Promise<CapabilityView> {
    const { dictionary } = this.#parts;
    const old = dictionary.get(namespace, name);
    const entry = dictionary.update(namespace, name, update);
    if (this.#ledger.directory.hasCapability(namespace, name)) {
      await this.#parts.index.prepare([this.#ledger.book.meaning(entry, entry)]);
    }
    const stored = await this.#writer.commitUpdate(old, entry);
    this.#ledger.applyEntries(stored);
    for (const one of stored) this.#ledger.tellCapability('capability.updated', one, null);
    return this.#capabilities.view(stored[0] ?? entry);
  }

  #entriesOf({ namespace, capabilities }: AgentRecord): (DictionaryEntry | undefined)[] {
    return capabilities.map(({ name }) => this.#parts.dictionary.get(namespace, name));
  }

  /** The dictionary's yes; its no is thrown, once the names it proposes are stored for an operator to see. */
  async #admit(record: AgentRecord): Promise<Extract<Admission, { ok: true }>> {
    const { agentId, namespace, capabilities, registeredAt } = record;
    const admission = this.#parts.dictionary.admit(capabilities, { namespace, agentId, now: registeredAt });
    if (admission.ok) return admission;
    if (admission.proposed.length > 0) {
      const stored = await this.#writer.commitEntries(admission.proposed);
      this.#ledger.applyEntries(stored);
      for (const entry of stored) this.#ledger.tellCapability('capability.proposed', entry, agentId);
    }
    throw admission.error;
  }

  #known(agentId: string): RegisteredAgent {
    const agent = this.#ledger.directory.agent(agentId);
    if (agent !== undefined) return agent;
    throw new AgentReachError('AR_ERR_AGENT_NOT_FOUND', { detail: `no agent is registered as ${agentId}` });
  }

  #ownedBy(agentId: string, leaseId: string | null): RegisteredAgent {
    const agent = this.#known(agentId);
    if (leaseId === null || agent.record.leaseId === leaseId) return agent;
    throw new AgentReachError('AR_ERR_STALE_LEASE', {
      detail: `agent ${agentId} has registered since: incarnation ${agent.record.incarnation} holds the lease`,
    });
  }
}

/** Agents have no such ids, so that the lane is the entry's own. */
const entryLane = (namespace: string, name: string): string => `/${namespace}/${name}`;

function hasExpired(record: AgentRecord, nowAt: number): boolean {
  return record.expiresAt !== null && isExpired(record.expiresAt, nowAt);
}

function replyOf(record: AgentRecord, warnings: Warning[]): RegistrationReply {
  const { agentId, leaseId, incarnation, heartbeatIntervalMs } = record;
  return { agentId, leaseId, incarnation, heartbeatIntervalMs, warnings };
}

function expiryWarnings({ registeredAt, expiresAt }: AgentRecord, nowAt: number): Warning[] {
  if (expiresAt === null || !isExpirySoon(registeredAt, expiresAt, nowAt)) return [];
  const time = new Date(expiresAt).toISOString();
  return isExpired(expiresAt, nowAt)
    ? [{ code: 'expired', message: `the registration expired at ${time}; register again to be routed to` }]
    : [{ code: 'expires_soon', message: `the registration expires at ${time}; register again to stay` }];
}
