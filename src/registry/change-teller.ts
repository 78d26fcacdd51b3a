/**
 * The events of a registry that several instances share, made from the log of its changes alone: every instance that
 * reads the log tells the same events in the same order, whoever made the change and whatever its memory knew before.
 * Keeps a few words for each agent and name, which can be written down: whoever reads them tells on from there.
 */
import type { DictionaryEntry } from '../capability/index.ts';
import type { AgentState, StateReason } from '../contract/index.ts';
import { contentHash } from '../core/index.ts';
import type { RegistryEvent } from '../events/index.ts';
import type { AgentRecord } from './agent-record.ts';
import type { RegistryChange } from './agent-store.ts';
import { capabilityKey } from './meaning-book.ts';
import { contentOf } from './registration.ts';
import type { HeardState } from './registry-follower.ts';

interface Told {
  readonly leaseId: string;
  readonly incarnation: number;
  readonly revision: number;
  readonly namespace: string;
  readonly state: AgentState;
  readonly content: string;
}

type EntryTold = Pick<DictionaryEntry, 'revision' | 'status'>;

interface Written {
  readonly agents: readonly (readonly [agentId: string, told: Told])[];
  readonly entries: readonly (readonly [key: string, told: EntryTold])[];
}

type Moment = Pick<RegistryEvent, 'at' | 'epoch'>;

export class ChangeTeller {
  readonly #agents = new Map<string, Told>();
  readonly #entries = new Map<string, EntryTold>();

  /** What was known before the first change; told to nobody. */
  seed(agents: Iterable<AgentRecord>, entries: Iterable<DictionaryEntry>): void {
    for (const record of agents) this.#agents.set(record.agentId, toldOf(record, storedState(record) ?? 'online'));
    for (const { namespace, name, revision, status } of entries) {
      this.#entries.set(capabilityKey(namespace, name), { revision, status });
    }
  }

  /** What was told up to now, as text: some 170 bytes an agent. */
  write(): string {
    return JSON.stringify({ agents: [...this.#agents], entries: [...this.#entries] } satisfies Written);
  }

  static read(text: string): ChangeTeller {
    const { agents, entries } = JSON.parse(text) as Written;
    const teller = new ChangeTeller();
    for (const [agentId, told] of agents) teller.#agents.set(agentId, told);
    for (const [key, entry] of entries) teller.#entries.set(key, entry);
    return teller;
  }

  /** Whether what was told leads to these records. */
  agrees(agents: readonly AgentRecord[], entries: readonly DictionaryEntry[]): boolean {
    if (agents.length !== this.#agents.size || entries.length !== this.#entries.size) return false;
    const isTold = (record: AgentRecord): boolean => {
      const told = this.#agents.get(record.agentId);
      if (told?.leaseId !== record.leaseId || told.revision !== record.revision) return false;
      return (storedState(record) ?? 'online') === (isStored(told.state) ? told.state : 'online');
    };
    const isKnown = ({ namespace, name, revision }: DictionaryEntry): boolean =>
      this.#entries.get(capabilityKey(namespace, name))?.revision === revision;
    return agents.every(isTold) && entries.every(isKnown);
  }

  /** Newest start and state of each agent. */
  *states(): Generator<Pick<HeardState, 'agentId' | 'incarnation'> & { readonly state: AgentState }> {
    for (const [agentId, { incarnation, state }] of this.#agents) yield { agentId, incarnation, state };
  }

  eventsOf(change: RegistryChange, moment: Moment): RegistryEvent[] {
    return [
      ...(change.putEntries ?? []).flatMap((entry) => this.#entry(entry, moment)),
      ...(change.putAgents ?? []).flatMap((record) => this.#put(record, change, moment)),
      ...(change.removeAgents ?? []).flatMap((agentId) => this.#remove(agentId, change.why, moment)),
    ];
  }

  stateOf({ agentId, incarnation, to, why }: HeardState, moment: Moment): RegistryEvent[] {
    const old = this.#agents.get(agentId);
    if (old === undefined || old.incarnation !== incarnation || old.state === to || isStored(old.state)) return [];
    this.#agents.set(agentId, { ...old, state: to });
    const { namespace, revision, state: from } = old;
    return [{ type: 'agent.state_changed', ...moment, agentId, namespace, incarnation, revision, from, to, why }];
  }

  #put(record: AgentRecord, { why = 'loaded', state }: RegistryChange, moment: Moment): RegistryEvent[] {
    const { agentId, namespace, incarnation, revision, leaseId } = record;
    const old = this.#agents.get(agentId);
    const isNewStart = old?.leaseId !== leaseId;
    const kept = old === undefined || isNewStart ? 'online' : isStored(old.state) ? comeBackAs(state) : old.state;
    const told = toldOf(record, storedState(record) ?? kept);
    this.#agents.set(agentId, told);
    const about = { ...moment, agentId, namespace, incarnation, revision };
    if (old === undefined) return [{ type: 'agent.registered', ...about }];
    const events: RegistryEvent[] = [];
    const isMoved = old.state !== told.state;
    const isContentNew = old.content !== told.content;
    if (isContentNew || (!isMoved && old.revision !== revision)) events.push({ type: 'agent.updated', ...about });
    if (isMoved) {
      const reason = isNewStart ? 'registered' : (why as StateReason);
      events.push({ type: 'agent.state_changed', ...about, from: old.state, to: told.state, why: reason });
    }
    return events;
  }

  #remove(agentId: string, why: string | undefined, moment: Moment): RegistryEvent[] {
    const old = this.#agents.get(agentId);
    if (old === undefined) return [];
    this.#agents.delete(agentId);
    const { namespace, incarnation, revision } = old;
    const type = why === 'evicted' ? 'agent.evicted' : 'agent.withdrawn';
    return [{ type, ...moment, agentId, namespace, incarnation, revision }];
  }

  #entry(entry: DictionaryEntry, moment: Moment): RegistryEvent[] {
    const { namespace, name: capability, status, revision } = entry;
    const key = capabilityKey(namespace, capability);
    const old = this.#entries.get(key);
    this.#entries.set(key, { revision, status });
    if (old === undefined && status === 'proposed') {
      return [{ type: 'capability.proposed', ...moment, agentId: entry.firstOwner, namespace, capability }];
    }
    if (revision <= (old?.revision ?? 0)) return [];
    return [{ type: 'capability.updated', ...moment, agentId: null, namespace, capability }];
  }
}

/** States that follow from the record; the others are told beside it. */
function storedState({ cordoned, offlineAt, drain }: AgentRecord): AgentState | undefined {
  if (cordoned !== null) return 'cordoned';
  if (offlineAt !== null) return 'offline';
  return drain === null ? undefined : 'draining';
}

const isStored = (state: AgentState): boolean => state === 'cordoned' || state === 'offline' || state === 'draining';

/** In one step: that of an agent that comes back busy is no event before the one that it is busy. */
const comeBackAs = (state: AgentState | undefined): AgentState =>
  state === undefined || isStored(state) ? 'online' : state;

function toldOf(record: AgentRecord, state: AgentState): Told {
  const { leaseId, incarnation, revision, namespace } = record;
  return { leaseId, incarnation, revision, namespace, state, content: contentHash(contentOf(record)) };
}
