import type { DictionaryEntry } from '../capability/index.ts';
import type { AgentId } from '../core/index.ts';
import type { AgentRecord } from './agent-record.ts';

/** One change of the registry; stored whole or not at all. */
export interface RegistryChange {
  readonly putAgents?: readonly AgentRecord[];
  readonly removeAgents?: readonly AgentId[];
  readonly putEntries?: readonly DictionaryEntry[];
}

/**
 * Where agents and the dictionary outlive the process. `commit` resolves once the change would survive kill -9, and
 * commits of one caller take effect in the order made. Error: AR_ERR_STORE_UNAVAILABLE; nothing was stored then.
 */
export interface AgentStore {
  load(): Promise<{ readonly agents: readonly AgentRecord[]; readonly entries: readonly DictionaryEntry[] }>;
  commit(change: RegistryChange): Promise<void>;
}
