import type { DictionaryEntry } from '../capability/index.ts';
import type { AgentState } from '../contract/index.ts';
import type { AgentId } from '../core/index.ts';
import type { AgentRecord } from './agent-record.ts';

/** One change of the registry; stored whole or not at all. */
export interface RegistryChange {
  readonly putAgents?: readonly AgentRecord[];
  readonly removeAgents?: readonly AgentId[];
  readonly putEntries?: readonly DictionaryEntry[];
  /** Of the agents: a reason of their new state, or `withdrawn` or `evicted`. Told to other instances. */
  readonly why?: string;
  /**
   * The lease of these agents is over because nobody heard of them: where several instances share the store, it takes
   * that from the one that watches the leases only, and only once the deadline that it keeps itself is over.
   */
  readonly endsLease?: true;
  /**
   * Of the agents, what they are now by whoever changed them: no record says whether an agent that is let go or back
   * is busy or doubted. Told to other instances.
   */
  readonly state?: AgentState;
}

/**
 * Where agents and the dictionary outlive the process. `commit` resolves once the change would survive kill -9, and
 * commits of one caller take effect in the order made. Errors, after which nothing was stored: AR_ERR_STORE_CONFLICT
 * where another instance has changed the same; AR_ERR_LEASE_WATCHED for the end of a lease that is not over, or that
 * another one watches. AR_ERR_STORE_UNAVAILABLE: nothing was stored, or all of it where the answer was lost on the way;
 * then it comes by the log, and a registration made again is the next start of the agent.
 */
export interface AgentStore {
  load(): Promise<{ readonly agents: readonly AgentRecord[]; readonly entries: readonly DictionaryEntry[] }>;
  commit(change: RegistryChange): Promise<void>;
}
