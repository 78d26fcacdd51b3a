import type { AgentState, StateReason } from '../contract/index.ts';

interface EventBase {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The registry's epoch once the change was visible. */
  readonly epoch: number;
}

interface AgentEventBase extends EventBase {
  readonly agentId: string;
  readonly namespace: string;
  readonly incarnation: number;
  /** Of the agent, once the change was visible. */
  readonly revision: number;
}

export interface AgentChangeEvent extends AgentEventBase {
  /**
   * `registered`: a new id; `updated`: what is known of it changed, its state apart; `withdrawn`: left by will or an
   * operator's word; `evicted`: offline for so long that its record was removed.
   */
  readonly type: 'agent.registered' | 'agent.updated' | 'agent.withdrawn' | 'agent.evicted';
}

/** A move between states, each told once. */
export interface AgentStateEvent extends AgentEventBase {
  readonly type: 'agent.state_changed';
  readonly from: AgentState;
  readonly to: AgentState;
  readonly why: StateReason;
}

export interface CapabilityEvent extends EventBase {
  /** `proposed`: a curated dictionary filed an unknown name; `updated`: an operator changed an entry. */
  readonly type: 'capability.proposed' | 'capability.updated';
  /** Who proposed it; null where an operator acted. */
  readonly agentId: string | null;
  readonly namespace: string;
  readonly capability: string;
}

/** Everything that the registry tells the rest of the process, by `type`. */
export type RegistryEvent = AgentChangeEvent | AgentStateEvent | CapabilityEvent;
