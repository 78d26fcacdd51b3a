/**
 * The registry's memory: agents, meanings, dictionary and search index, changed together and synchronously, so that
 * no reader sees one without the others. The store comes first: only what was committed is taken in here.
 */
import type { CapabilityDictionary, DictionaryEntry } from '../capability/index.ts';
import { type Clock, publish } from '../core/index.ts';
import type { EventBus, RegistryEvent } from '../events/index.ts';
import { AgentDirectory } from './agent-directory.ts';
import type { RegisteredAgent } from './agent-record.ts';
import type { CapabilityIndex } from './capability-index.ts';
import { capabilityKey, MeaningBook, type NamedCapability } from './meaning-book.ts';

export interface AgentLedgerParts {
  readonly clock: Clock;
  readonly dictionary: CapabilityDictionary;
  readonly index: CapabilityIndex;
  readonly bus: EventBus;
}

type AgentEventType = Exclude<RegistryEvent['type'], `capability.${string}` | 'agent.state'>;

export class AgentLedger {
  readonly directory = new AgentDirectory();
  readonly book: MeaningBook;
  readonly #parts: AgentLedgerParts;

  constructor(parts: AgentLedgerParts) {
    this.#parts = parts;
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

  /** A registration that was stored, with the dictionary entries stored beside it. Routable when this returns. */
  admit(agent: RegisteredAgent, entries: readonly DictionaryEntry[]): void {
    const old = this.directory.agent(agent.record.agentId);
    this.#parts.dictionary.apply(entries);
    this.directory.put(agent);
    this.#refreshIndex([...this.book.replace(old?.record, agent.record), ...entries]);
    this.tell(old === undefined ? 'agent.registered' : 'agent.updated', agent);
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

  /** The agent after a beat or a lapsed lease; tells what changed for others, which after most beats is nothing. */
  replace(agent: RegisteredAgent): void {
    const old = this.directory.agent(agent.record.agentId);
    const from = old?.liveness.state;
    const to = agent.liveness.state;
    this.directory.put(agent);
    if (from === undefined || from === to) return;
    if (to === 'offline') this.tell('agent.offline', agent);
    else if (from === 'offline') this.tell('agent.online', agent);
    else {
      const { agentId, namespace, incarnation } = agent.record;
      this.#publish({ type: 'agent.state', ...this.#moment(), agentId, namespace, incarnation, from, to }, to);
    }
  }

  tell(type: AgentEventType, agent: RegisteredAgent): void {
    const { agentId, namespace, incarnation } = agent.record;
    this.#publish({ type, ...this.#moment(), agentId, namespace, incarnation }, agent.liveness.state);
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
