import type { CapabilityName } from '../core/index.ts';
import type { RegisteredAgent } from './agent-record.ts';

/**
 * What routing reads, without a wait and without a lock: every answer is of one moment, and what it hands out is
 * never changed afterwards. `epoch` rises with each change of who is registered or of a state.
 */
export interface RegistryView {
  readonly epoch: number;
  /** The clock that the times of an agent's liveness are of. */
  readonly now: number;
  /** Too many leases ran out together: nobody is taken out for now, so who is silent may be dead. */
  readonly preserving: boolean;
  agent(agentId: string): RegisteredAgent | undefined;
  /** Agents of a namespace that registered this capability, whatever their state. */
  agentsOf(namespace: string, capability: CapabilityName): readonly RegisteredAgent[];
  /** Whether any agent, whatever its state, is registered for it. */
  hasCapability(namespace: string, capability: string): boolean;
  /** Tasks that this process gave the agent and that still run. */
  inFlight(agentId: string): number;
}
