/**
 * The registry's way to the store. Changes of one agent are made one after another; those of different agents go side
 * by side and share a flush. Dictionary entries on their way to the store are remembered, so that registrations and an
 * operator's update of one name cannot undo each other's word.
 */
import type { DictionaryEntry } from '../capability/index.ts';
import { type AgentId, AgentReachError, errorText, log, retryOnConflict } from '../core/index.ts';
import type { AgentDirectory } from './agent-directory.ts';
import type { AgentRecord } from './agent-record.ts';
import type { AgentStore, RegistryChange } from './agent-store.ts';
import { capabilityKey } from './meaning-book.ts';
import { TaskLanes } from './task-lanes.ts';

export class RegistryWriter {
  readonly #store: AgentStore;
  readonly #directory: AgentDirectory;
  readonly #lanes = new TaskLanes();
  readonly #entriesInFlight = new Map<string, DictionaryEntry>();
  /** Agents let go for their silence, by the `offlineAt` that the store has not taken yet: it has the last word. */
  readonly #unstoredEnds = new Map<string, number>();
  #isStopped = false;

  constructor(store: AgentStore, directory: AgentDirectory) {
    this.#store = store;
    this.#directory = directory;
  }

  /**
   * Runs the task again from its start where another instance has changed the same meanwhile. Error: AR_ERR_STOPPING
   * after `stop`, besides the task's own.
   */
  async inTurn<T>(agentId: string, task: () => Promise<T>): Promise<T> {
    if (this.#isStopped) throw new AgentReachError('AR_ERR_STOPPING');
    return this.#lanes.run(agentId, () => retryOnConflict(task));
  }

  /** Stores a registration; answers the entries as stored, which may join the word of another one in flight. */
  async commitAgent(record: AgentRecord, entries: readonly DictionaryEntry[]): Promise<readonly DictionaryEntry[]> {
    this.#assertNext(record);
    return this.#withEntries(entries, (joined) => this.#store.commit({ putAgents: [record], putEntries: joined }));
  }

  /** Stores what somebody's word has made of a registered agent; an end that the store has not taken is no part of it. */
  async commitWord(record: AgentRecord, about: Required<Pick<RegistryChange, 'why' | 'state'>>): Promise<void> {
    this.#assertNext(record);
    const stored = this.hasUnstoredEnd(record) ? { ...record, offlineAt: null } : record;
    await this.#store.commit({ putAgents: [stored], ...about });
  }

  /** Stores what an operator made of `old`; answers it as stored, with the word of a registration in flight. */
  async commitUpdate(old: DictionaryEntry | undefined, entry: DictionaryEntry): Promise<readonly DictionaryEntry[]> {
    const commit = (joined: readonly DictionaryEntry[]) => this.#store.commit({ putEntries: joined });
    return this.#withEntries([entry], commit, (other) => ({ ...other, ...changesOf(old, entry) }));
  }

  /** Stores proposals; answers them as stored. */
  async commitEntries(entries: readonly DictionaryEntry[]): Promise<readonly DictionaryEntry[]> {
    return this.#withEntries(entries, (joined) => this.#store.commit({ putEntries: joined }));
  }

  async removeAgent(agentId: AgentId, why: 'withdrawn' | 'evicted' = 'withdrawn'): Promise<void> {
    const end = why === 'evicted' ? { endsLease: true as const } : {};
    await this.#store.commit({ removeAgents: [agentId], why, ...end });
    this.#unstoredEnds.delete(agentId);
  }

  /** As `syncAgent`, of an agent let go for its silence. */
  syncEnd({ agentId, offlineAt }: AgentRecord): void {
    if (offlineAt !== null) this.#unstoredEnds.set(agentId, offlineAt);
    this.syncAgent(agentId);
  }

  /** The agent is offline for its silence, and the store has not taken that. */
  hasUnstoredEnd({ agentId, offlineAt }: AgentRecord): boolean {
    return offlineAt !== null && this.#unstoredEnds.get(agentId) === offlineAt;
  }

  /**
   * Stores the agent as memory has it once its turn comes, in the background: for the mark of going offline and its
   * undoing. A failure is logged; the mark is made anew from the lease after a restart.
   */
  syncAgent(agentId: string): void {
    const sync = async (): Promise<void> => {
      const agent = this.#directory.agent(agentId);
      if (agent === undefined) return;
      const { record, liveness } = agent;
      const { reason: why, state } = liveness;
      const isEnd = this.hasUnstoredEnd(record);
      if (!isEnd) this.#unstoredEnds.delete(agentId);
      await this.#store.commit({ putAgents: [record], why, state, ...(isEnd ? { endsLease: true } : {}) });
      if (this.hasUnstoredEnd(record)) this.#unstoredEnds.delete(agentId);
    };
    this.inTurn(agentId, sync).catch((error: unknown) => {
      log('error', 'a change of state was not stored; memory has it', { agentId, reason: errorText(error) });
    });
  }

  /** Takes no new change and waits for those on their way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#lanes.drain();
  }

  /** Decided on what memory holds now: another instance's word may have come while texts were embedded. */
  #assertNext({ agentId, incarnation, leaseId }: AgentRecord): void {
    const latest = this.#directory.agent(agentId)?.record;
    if (latest?.leaseId === leaseId || incarnation === (latest?.incarnation ?? 0) + 1) return;
    throw new AgentReachError('AR_ERR_STORE_CONFLICT');
  }

  async #withEntries(
    entries: readonly DictionaryEntry[],
    commit: (joined: readonly DictionaryEntry[]) => Promise<void>,
    join: (other: DictionaryEntry) => DictionaryEntry = (other) => other,
  ): Promise<readonly DictionaryEntry[]> {
    const joined = entries.map((entry) => {
      const key = capabilityKey(entry.namespace, entry.name);
      const other = this.#entriesInFlight.get(key);
      const one = other === undefined ? entry : { ...join(other), sensitive: other.sensitive || entry.sensitive };
      this.#entriesInFlight.set(key, one);
      return one;
    });
    try {
      await commit(joined);
      return joined;
    } finally {
      for (const entry of joined) {
        const key = capabilityKey(entry.namespace, entry.name);
        if (this.#entriesInFlight.get(key) === entry) this.#entriesInFlight.delete(key);
      }
    }
  }
}

/** What the operator said; the rest stays as whoever is in flight has it. */
function changesOf(old: DictionaryEntry | undefined, entry: DictionaryEntry): Partial<DictionaryEntry> {
  const { status, replacedBy, description, examples, revision } = entry;
  const isStatusNew = status !== old?.status || replacedBy !== old.replacedBy;
  return {
    revision,
    ...(examples === old?.examples ? {} : { examples }),
    ...(isStatusNew ? { status, replacedBy } : {}),
    ...(description === old?.description ? {} : { description }),
  };
}
