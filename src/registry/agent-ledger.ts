/**
 * The registry's memory: agents, meanings, dictionary and search index, changed together and synchronously, so that
 * no reader sees one without the others. The store comes first: only what was committed is taken in here.
 */
import type { CapabilityDictionary, DictionaryEntry } from '../capability/index.ts';
import type { StateReason } from '../contract/index.ts';
import { type Clock, publish } from '../core/index.ts';
import type { EventBus, RegistryEvent } from '../events/index.ts';
import { AgentDirectory } from './agent-directory.ts';
import type { AgentLiveness, AgentRecord, RegisteredAgent } from './agent-record.ts';
import type { CapabilityIndex } from './capability-index.ts';
import { factsOf, stateOf } from './health.ts';
import type { InFlightBook } from './in-flight.ts';
import { capabilityKey, MeaningBook, type NamedCapability } from './meaning-book.ts';

export interface AgentLedgerParts {
  readonly clock: Clock;
  readonly dictionary: CapabilityDictionary;
  readonly index: CapabilityIndex;
  readonly bus: EventBus;
  readonly inFlight: InFlightBook;
}

/** What somebody learnt of an agent; whatever is left out stays. */
export interface AgentFacts {
  readonly record?: AgentRecord;
  /** The record is as another instance stored it, its revision too. */
  readonly isStored?: true;
  readonly liveness?: Partial<Omit<AgentLiveness, 'state' | 'reason'>>;
}

type AgentEventType = Exclude<RegistryEvent['type'], `capability.${string}` | 'agent.state_changed'>;

export class AgentLedger {
  readonly directory: AgentDirectory;
  readonly book: MeaningBook;
  readonly #parts: AgentLedgerParts;

  constructor(parts: AgentLedgerParts) {
    this.#parts = parts;
    this.directory = new AgentDirectory(parts.clock, parts.inFlight);
    this.book = new MeaningBook((namespace, name) => parts.dictionary.get(namespace, name));
  }

  /** What the store held: one call of the index for all. */
  load(agents: readonly RegisteredAgent[]): void {
    const capabilities = new Map<string, NamedCapability>();
    for (const agent of agents) {
      this.directory.put(agent);
      for (const at of this.book.replace(undefined, agent.record)) {
        capabilities.set(capabilityKey(at.namespace, at.name), at);
      }
    }
    this.#parts.index.apply([...capabilities.values()].map((at) => this.book.meaning(at)));
  }

  /**
   * A registration that was stored, with the dictionary entries stored beside it. Routable when this returns. A new
   * start that says what the last one said, of an agent that was well, is told to nobody.
   */
  admit(agent: RegisteredAgent, entries: readonly DictionaryEntry[]): void {
    const old = this.directory.agent(agent.record.agentId);
    this.#parts.dictionary.apply(entries);
    this.directory.put(agent);
    const changed = this.book.replace(old?.record, agent.record);
    this.#refreshIndex([...changed, ...entries]);
    if (old === undefined) {
      this.tell('agent.registered', agent);
      return;
    }
    const isContentNew = old.record.capabilities !== agent.record.capabilities;
    if (isContentNew) this.tell('agent.updated', agent);
    if (old.liveness.state !== agent.liveness.state) this.#tellState(agent, old.liveness.state);
    else if (!isContentNew && old.record.revision !== agent.record.revision) this.tell('agent.updated', agent);
  }

  remove(agent: RegisteredAgent, type: 'agent.withdrawn' | 'agent.evicted'): void {
    this.directory.remove(agent.record.agentId);
    this.#refreshIndex(this.book.replace(agent.record, undefined));
    this.tell(type, agent);
  }

  /** Dictionary entries that an operator changed or a refused registration proposed. */
  applyEntries(entries: readonly DictionaryEntry[]): void {
    this.#parts.dictionary.apply(entries);
    this.directory.raiseEpoch();
    this.#refreshIndex(entries.filter((entry) => this.directory.hasCapability(entry.namespace, entry.name)));
  }

  /**
   * The one way in which a registered agent changes: facts go in, the state follows from all of them, and at most one
   * event comes out: of the state where it moved, else of the record where that changed.
   */
  change(agent: RegisteredAgent, facts: AgentFacts, why: StateReason): RegisteredAgent {
    const old = agent.liveness;
    const isRecordNew = facts.record !== undefined && facts.record !== agent.record;
    const revision = facts.isStored === true ? facts.record?.revision : undefined;
    const record = isRecordNew
      ? { ...(facts.record ?? agent.record), revision: revision ?? agent.record.revision + 1 }
      : agent.record;
    const learnt = { ...old, ...facts.liveness };
    const state = stateOf(factsOf(record, learnt));
    const isMoved = state !== old.state;
    const changed = { record, liveness: isMoved ? { ...learnt, state, reason: why } : learnt };
    this.directory.put(changed);
    if (isMoved) this.#tellState(changed, old.state);
    else if (isRecordNew) this.tell('agent.updated', changed);
    return changed;
  }

  tell(type: AgentEventType, agent: RegisteredAgent): void {
    this.#publish({ type, ...this.#moment(), ...named(agent) }, agent.liveness.state);
  }

  #tellState(agent: RegisteredAgent, from: AgentLiveness['state']): void {
    const { state: to, reason: why } = agent.liveness;
    this.#publish({ type: 'agent.state_changed', ...this.#moment(), ...named(agent), from, to, why }, to);
  }

  tellCapability(
    type: 'capability.proposed' | 'capability.updated',
    entry: DictionaryEntry,
    agentId: string | null,
  ): void {
    const { namespace, name: capability } = entry;
    this.#parts.bus.publish({ type, ...this.#moment(), agentId, namespace, capability });
  }

  #refreshIndex(capabilities: readonly NamedCapability[]): void {
    const current = new Map<string, NamedCapability>();
    for (const { namespace, name } of capabilities) {
      if (this.directory.hasCapability(namespace, name)) {
        current.set(capabilityKey(namespace, name), { namespace, name });
      } else this.#parts.index.remove(namespace, name);
    }
    if (current.size > 0) this.#parts.index.apply([...current.values()].map((at) => this.book.meaning(at)));
  }

  #moment(): { at: number; epoch: number } {
    return { at: this.#parts.clock.wallNow(), epoch: this.directory.epoch };
  }

  #publish(event: Extract<RegistryEvent, { readonly incarnation: number }>, state: string): void {
    publish('agent.changed', { agentId: event.agentId, change: event.type, state });
    this.#parts.bus.publish(event);
  }
}

function named({ record }: RegisteredAgent) {
  const { agentId, namespace, incarnation, revision } = record;
  return { agentId, namespace, incarnation, revision };
}
