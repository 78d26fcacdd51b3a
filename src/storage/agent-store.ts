/** Agents and dictionary entries over any key-value store: one JSON record each, one atomic commit per change. */
import type { DictionaryEntry } from '../capability/index.ts';
import type { AgentRecord, AgentStore, RegistryChange } from '../registry/index.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const AGENT_SHAPE: RecordShape = {
  agentId: 'string',
  agentName: 'string',
  version: 'string',
  namespace: 'string',
  capabilities: 'array',
  transport: 'object',
  heartbeatIntervalMs: 'number',
  timeoutMs: 'number',
  maxConcurrency: 'number',
  idempotent: 'boolean',
  tags: 'object',
  metadata: 'object',
  leaseId: 'string',
  incarnation: 'number',
  registeredAt: 'number',
};

const ENTRY_SHAPE: RecordShape = {
  namespace: 'string',
  name: 'string',
  status: 'string',
  firstSeenAt: 'number',
  sensitive: 'boolean',
};

/** Entries written before operators could give examples lack both fields. */
type StoredEntry = Omit<DictionaryEntry, 'examples' | 'revision'> &
  Partial<Pick<DictionaryEntry, 'examples' | 'revision'>>;

export class KeyValueAgentStore implements AgentStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async load(): Promise<{ readonly agents: readonly AgentRecord[]; readonly entries: readonly DictionaryEntry[] }> {
    const [agents, entries] = await Promise.all([this.#store.entries('agents'), this.#store.entries('dictionary')]);
    return {
      agents: agents.flatMap(([key, bytes]) => decodeRecord<AgentRecord>('agents', key, bytes, AGENT_SHAPE) ?? []),
      entries: entries.flatMap(([key, bytes]) => {
        const entry = decodeRecord<StoredEntry>('dictionary', key, bytes, ENTRY_SHAPE);
        return entry === undefined ? [] : { ...entry, examples: entry.examples ?? [], revision: entry.revision ?? 0 };
      }),
    };
  }

  async commit(change: RegistryChange): Promise<void> {
    const writes: TableWrite[] = [];
    for (const record of change.putAgents ?? []) {
      writes.push({ table: 'agents', key: record.agentId, value: encodeRecord(record) });
    }
    for (const agentId of change.removeAgents ?? []) writes.push({ table: 'agents', key: agentId, value: null });
    for (const entry of change.putEntries ?? []) {
      writes.push({ table: 'dictionary', key: `${entry.namespace}/${entry.name}`, value: encodeRecord(entry) });
    }
    if (writes.length > 0) await this.#store.commit(writes);
  }
}
