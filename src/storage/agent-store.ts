/** Agents and dictionary entries over any key-value store: one JSON record each, one atomic commit per change. */
import type { DictionaryEntry } from '../capability/index.ts';
import type { AgentState } from '../contract/index.ts';
import type { AgentId } from '../core/index.ts';
import type { AgentRecord, AgentStore, RegistryChange } from '../registry/index.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';
import type { LoggedWrite } from './shared-log.ts';

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

/** What agents written before there were operators' words lack. */
const YOUNGER_FIELDS = { revision: 1, cordoned: null, drain: null };
type StoredAgent = Omit<AgentRecord, keyof typeof YOUNGER_FIELDS> &
  Partial<Pick<AgentRecord, keyof typeof YOUNGER_FIELDS>>;

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
      agents: agents.flatMap(([key, bytes]) => readAgent(key, bytes) ?? []),
      entries: entries.flatMap(([key, bytes]) => readEntry(key, bytes) ?? []),
    };
  }

  async commit(change: RegistryChange): Promise<void> {
    const { why, state, endsLease } = change;
    const about = {
      ...(why === undefined ? {} : { note: state === undefined ? why : `${why} ${state}` }),
      ...(endsLease === undefined ? {} : { endsLease }),
    };
    const writes: TableWrite[] = [];
    for (const record of change.putAgents ?? []) {
      writes.push({ table: 'agents', key: record.agentId, value: encodeRecord(record), ...about });
    }
    for (const agentId of change.removeAgents ?? []) {
      writes.push({ table: 'agents', key: agentId, value: null, ...about });
    }
    for (const entry of change.putEntries ?? []) {
      writes.push({ table: 'dictionary', key: `${entry.namespace}/${entry.name}`, value: encodeRecord(entry) });
    }
    if (writes.length > 0) await this.#store.commit(writes);
  }
}

/** What an entry of the log changes in the registry, one change for each reason. */
export function registryChangesOf(writes: readonly LoggedWrite[]): RegistryChange[] {
  const putEntries: DictionaryEntry[] = [];
  const changes: RegistryChange[] = [];
  for (const { table, key, value, note } of writes) {
    if (value === undefined) continue;
    const about = readNote(note);
    if (table === 'agents' && value === null) changes.push({ removeAgents: [key as AgentId], ...about });
    else if (table === 'agents' && value !== null) {
      const record = readAgent(key, value);
      if (record !== undefined) changes.push({ putAgents: [record], ...about });
    } else if (table === 'dictionary' && value !== null) {
      const entry = readEntry(key, value);
      if (entry !== undefined) putEntries.push(entry);
    }
  }
  return putEntries.length === 0 ? changes : [{ putEntries }, ...changes];
}

/** `why`, or `why state`. */
function readNote(note: string | undefined): Pick<RegistryChange, 'why' | 'state'> {
  if (note === undefined) return {};
  const [why = note, state] = note.split(' ');
  return state === undefined ? { why } : { why, state: state as AgentState };
}

function readAgent(key: string, bytes: Uint8Array): AgentRecord | undefined {
  const record = decodeRecord<StoredAgent>('agents', key, bytes, AGENT_SHAPE);
  return record === undefined ? undefined : { ...YOUNGER_FIELDS, ...record };
}

function readEntry(key: string, bytes: Uint8Array): DictionaryEntry | undefined {
  const entry = decodeRecord<StoredEntry>('dictionary', key, bytes, ENTRY_SHAPE);
  return entry === undefined ? undefined : { ...entry, examples: entry.examples ?? [], revision: entry.revision ?? 0 };
}
