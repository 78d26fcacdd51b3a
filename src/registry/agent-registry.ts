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
  CordonRequest,
  DrainRequest,
  Heartbeat,
  HeartbeatBatch,
  HeartbeatBatchReply,
  HeartbeatReply,
  ListAgentsQuery,
  ListCapabilitiesQuery,
  OutcomeReply,
  OutcomeReport,
  Registration,
  RegistrationReply,
  Warning,
} from '../contract/index.ts';
import { AgentReachError, type Clock, canonicalText, newLeaseId, publish } from '../core/index.ts';
import type { EventBus } from '../events/index.ts';
import { AgentHealth, type BeatSharing, cordonWarning } from './agent-health.ts';
import { AgentLedger } from './agent-ledger.ts';
import { agentView, listAgents } from './agent-listing.ts';
import type { AgentRecord, RegisteredAgent } from './agent-record.ts';
import type { AgentStore } from './agent-store.ts';
import { Arrivals } from './arrivals.ts';
import type { CapabilityIndex } from './capability-index.ts';
import { CapabilityListing } from './capability-listing.ts';
import { assertEndpoints, reviewHealthEndpoint } from './endpoint-policy.ts';
import { type HealthProber, HttpHealthProber } from './health-prober.ts';
import { InFlightBook } from './in-flight.ts';
import { NetworkPolicy } from './network-policy.ts';
import { countedOn, expiryOf, freshAgent, recordOf } from './registration.ts';
import { RegistryFollower } from './registry-follower.ts';
import type { RegistryView } from './registry-view.ts';
import { RegistryWriter } from './registry-writer.ts';

export interface AgentRegistryOptions {
  /** How long an offline agent is kept for inspection before it is evicted. Default 24 h; 0 evicts at once. */
  readonly keepOfflineMs: number;
  /** Intervals without a beat until an agent is offline. Default 3; more forgives more and notices later. */
  readonly missedBeats: number;
  /** How long nobody is evicted when many leases end together. Default 15 min; 0 never spares anybody. */
  readonly preserveMs: number;
  /** From a tenth of its weight to all of it in this time, for an agent that is new. Default 30 s; 0: all at once. */
  readonly slowStartMs: number;
  /** Of a capability's living agents, the share that may be ejected at once. Default 0.1; 0 ejects nobody. */
  readonly maxEjectedShare: number;
  /** How long a drain lasts where nobody says. Default 5 min. */
  readonly drainTimeoutMs: number;
  /** Networks, beside the public ones, whose health endpoints may be asked. Default: none. */
  readonly probeNetworks: readonly string[];
}

export const DEFAULT_REGISTRY: AgentRegistryOptions = {
  keepOfflineMs: 24 * 3_600_000,
  missedBeats: 3,
  preserveMs: 900_000,
  slowStartMs: 30_000,
  maxEjectedShare: 0.1,
  drainTimeoutMs: 300_000,
  probeNetworks: [],
};

const PROBE_TIMEOUT_MS = 1_000;

export interface AgentRegistryParts {
  readonly clock: Clock;
  /** 0..1, for jitter. */
  readonly random: () => number;
  readonly store: AgentStore;
  readonly dictionary: CapabilityDictionary;
  readonly index: CapabilityIndex;
  readonly bus: EventBus;
  readonly options?: Partial<AgentRegistryOptions>;
  /** Default: over HTTP, within `probeNetworks`. */
  readonly prober?: HealthProber;
  readonly beats?: BeatSharing;
}

export class AgentRegistry {
  readonly #parts: AgentRegistryParts;
  readonly #ledger: AgentLedger;
  readonly #writer: RegistryWriter;
  readonly #health: AgentHealth;
  readonly #prober: HealthProber;
  readonly #options: AgentRegistryOptions;
  readonly #capabilities: CapabilityListing;
  readonly #arrivals = new Arrivals();
  /** Told by whoever gives agents work: their load until they report it themselves. */
  readonly inFlight: InFlightBook;
  /** Takes in what other instances did. */
  readonly follower: RegistryFollower;

  constructor(parts: AgentRegistryParts) {
    const { clock, random, store } = parts;
    this.#parts = parts;
    this.#options = { ...DEFAULT_REGISTRY, ...parts.options };
    const policy = new NetworkPolicy(this.#options.probeNetworks);
    this.#prober = parts.prober ?? new HttpHealthProber({ clock, policy, timeoutMs: PROBE_TIMEOUT_MS });
    this.inFlight = new InFlightBook(clock);
    this.#ledger = new AgentLedger({ ...parts, inFlight: this.inFlight });
    this.#writer = new RegistryWriter(store, this.#ledger.directory);
    const around = { clock, random, ledger: this.#ledger, writer: this.#writer, prober: this.#prober };
    this.#health = new AgentHealth({ ...around, options: this.#options, beats: parts.beats });
    const { keepOfflineMs } = this.#options;
    const sync = (agentId: string): void => this.#writer.syncAgent(agentId);
    this.follower = new RegistryFollower({ clock, ledger: this.#ledger, health: this.#health, keepOfflineMs, sync });
    this.#capabilities = new CapabilityListing(parts.dictionary, this.#ledger.directory, this.#ledger.book);
  }

  get view(): RegistryView {
    return this.#ledger.directory;
  }

  /** Too many leases ran out together: nobody is evicted. */
  get preserving(): boolean {
    return this.#ledger.directory.preserving;
  }

  /** Health probes that wait or run. */
  get probes(): number {
    return this.#health.watch.probes;
  }

  /** Agents of whose callers anything is remembered. */
  get reportedAgents(): number {
    return this.#health.reports.size;
  }

  /** Off: another instance sees to what time does to agents. */
  setSweeping(isOn: boolean): void {
    this.#health.watch.setSweeping(isOn);
  }

  /**
   * Takes over what the store holds: once, before anything else. Agents that were alive get one full lease from now,
   * since their silence may have been ours. Error: AR_ERR_STORE_UNAVAILABLE.
   */
  async load(): Promise<void> {
    const { clock, dictionary, store } = this.#parts;
    const { agents, entries } = await store.load();
    const moment = { nowMs: clock.now(), wallAt: clock.wallNow() };
    dictionary.load(entries);
    const loaded = agents.map((record) => {
      const agent = freshAgent(record, 'loaded', moment);
      if (record.offlineAt === null) return agent;
      const evictionDueAt = moment.nowMs + (record.offlineAt + this.#options.keepOfflineMs - moment.wallAt);
      return { record, liveness: { ...agent.liveness, evictionDueAt } };
    });
    this.#ledger.load(loaded);
    for (const agent of loaded) this.#health.settle(agent);
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
      await this.#arrivals.begin();
      // In turn: one with large schemas must not be overtaken by what the agent says after it.
      await checkSchemas(definitions);
      const endpointWarnings = await reviewHealthEndpoint(registration.transport, this.#prober);
      const old = this.#recordOf(registration.agentId);
      const grant = { leaseId: newLeaseId(), registeredAt: clock.wallNow() };
      const record = recordOf(registration, definitions, grant, old);
      const entriesBefore = this.#entriesOf(record);
      const early = await this.#admit(record);
      publish('step', { name: 'register.admitted' });
      const meanings = this.#ledger.book.meaningsWith(old, record, early.entries);
      const prepared = await this.#parts.index.prepare(meanings);
      publish('step', { name: 'register.prepared' });
      const reply = await this.#arrivals.store(async () => {
        // Asked again where the dictionary moved on while texts were embedded; not always, since the lint costs most.
        const isCurrent = this.#entriesOf(record).every((entry, i) => entry === entriesBefore[i]);
        const admission = isCurrent ? early : await this.#admit(record);
        // Beats, and operators at other instances, went on meanwhile.
        const before = this.#recordOf(record.agentId);
        const { incarnation } = record;
        const current =
          before === old ? record : { ...recordOf(registration, definitions, grant, before), incarnation };
        const stored = await this.#writer.commitAgent(current, admission.entries);
        publish('step', { name: 'register.committed' });
        const agent = this.#started(countedOn(current, before, this.#recordOf(record.agentId)));
        this.#ledger.admit(agent, stored);
        this.#health.startAnew(agent);
        publish('step', { name: 'register.applied' });
        return replyOf(current, [...admission.warnings, ...endpointWarnings, ...prepared]);
      });
      return { reply, created: old === undefined };
    });
  }

  /** Errors: AR_ERR_LEASE_FORGOTTEN; AR_ERR_STALE_LEASE, which changes nothing. */
  heartbeat(agentId: string, beat: Heartbeat): HeartbeatReply {
    return this.#health.beat(agentId, beat);
  }

  /** In the order of the beats; a refused one is told in its place. */
  heartbeats(batch: HeartbeatBatch): HeartbeatBatchReply {
    return this.#health.beats(batch);
  }

  /** What a caller saw of an agent. Error: AR_ERR_AGENT_NOT_FOUND. */
  report(agentId: string, report: OutcomeReport): OutcomeReply {
    return this.#health.report(agentId, report);
  }

  /** An operator's word: no work until it is lifted. Errors: those of `withdraw`. */
  async cordon(agentId: string, request: CordonRequest, by: string): Promise<AgentView> {
    return agentView(await this.#health.cordon(agentId, request, by));
  }

  async uncordon(agentId: string): Promise<AgentView> {
    return agentView(await this.#health.uncordon(agentId));
  }

  /** No new work, offline at the deadline; `leaseId` null is an operator's word, `by` the operator's key. */
  async drain(agentId: string, request: DrainRequest, leaseId: string | null, by: string): Promise<AgentView> {
    return agentView(await this.#health.drain(agentId, request, leaseId, leaseId === null ? by : null));
  }

  async endDrain(agentId: string): Promise<AgentView> {
    return agentView(await this.#health.endDrain(agentId));
  }

  /**
   * Leaves for good; `leaseId` null is an operator's word. Never routed once this resolves; still registered when it
   * rejects. Errors: AR_ERR_AGENT_NOT_FOUND; AR_ERR_STALE_LEASE; AR_ERR_STORE_UNAVAILABLE; AR_ERR_STOPPING.
   */
  async withdraw(agentId: string, leaseId: string | null): Promise<void> {
    await this.#writer.inTurn(agentId, async () => {
      const { agentId: id } = this.#health.ownedBy(agentId, leaseId).record;
      await this.#writer.removeAgent(id);
      const latest = this.#ledger.directory.agent(agentId);
      if (latest === undefined) return;
      this.#health.forget(agentId);
      this.#ledger.remove(latest, 'agent.withdrawn');
    });
  }

  /** Error: AR_ERR_AGENT_NOT_FOUND. */
  get(agentId: string): AgentView {
    return agentView(this.#health.known(agentId));
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

  /**
   * An operator's word. Errors: those of `CapabilityDictionary.update`; AR_ERR_INVALID_REQUEST where `sensitive` cannot
   * be cleared; AR_ERR_STORE_UNAVAILABLE; AR_ERR_STOPPING.
   */
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
    this.#health.stop();
    await this.#writer.stop();
  }

  async #update(namespace: string, name: string, update: CapabilityUpdate): Promise<CapabilityView> {
    const { dictionary } = this.#parts;
    const old = dictionary.get(namespace, name);
    const entry = dictionary.update(namespace, name, update);
    if (update.sensitive === false) this.#assertNotSensitive(entry);
    if (this.#ledger.directory.hasCapability(namespace, name)) {
      await this.#parts.index.prepare([this.#ledger.book.meaning(entry, entry)]);
    }
    if (dictionary.get(namespace, name) !== old) throw new AgentReachError('AR_ERR_STORE_CONFLICT');
    const stored = await this.#writer.commitUpdate(old, entry);
    this.#ledger.applyEntries(stored);
    for (const one of stored) this.#ledger.tellCapability('capability.updated', one, null);
    return this.#capabilities.view(stored[0] ?? entry);
  }

  /** The stricter word counts: an operator's `false` would change nothing while an agent says `true`. */
  #assertNotSensitive({ namespace, name }: DictionaryEntry): void {
    const sayers = this.view
      .agentsOf(namespace, name)
      .filter(({ record }) => record.capabilities.some((one) => one.name === name && one.sensitive))
      .map(({ record }) => record.agentId);
    if (sayers.length === 0) return;
    const message = `stays true while an agent says so: ${sayers.slice(0, 5).join(', ')}${sayers.length > 5 ? ', ...' : ''}`;
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
      detail: `sensitive ${message}`,
      issues: [{ path: 'sensitive', message }],
    });
  }

  #recordOf(agentId: string): AgentRecord | undefined {
    return this.#ledger.directory.agent(agentId)?.record;
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

  /** Deadlines from now on; its weight grows anew where nobody knew it to be well. */
  #started(record: AgentRecord): RegisteredAgent {
    const { clock } = this.#parts;
    const { slowStartMs } = this.#options;
    const nowMs = clock.now();
    const latest = this.#ledger.directory.agent(record.agentId);
    const isCold = latest === undefined || latest.record.offlineAt !== null;
    const isSlow = isCold && slowStartMs > 0;
    const warmUp = isSlow ? { from: nowMs, until: nowMs + slowStartMs } : (latest?.liveness.warmUp ?? null);
    return freshAgent(record, 'registered', { nowMs, wallAt: clock.wallNow() }, warmUp);
  }
}

/** Agents have no such ids, so that the lane is the entry's own. */
const entryLane = (namespace: string, name: string): string => `/${namespace}/${name}`;

function replyOf(record: AgentRecord, warnings: Warning[]): RegistrationReply {
  const { agentId, leaseId, incarnation, heartbeatIntervalMs, cordoned } = record;
  const fence = cordoned === null ? [] : [cordonWarning(cordoned)];
  return { agentId, leaseId, incarnation, heartbeatIntervalMs, warnings: [...fence, ...warnings] };
}
