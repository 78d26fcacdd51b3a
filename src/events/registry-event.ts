import type { AgentState } from '../contract/index.ts';

interface EventBase {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The registry's epoch once the change was visible. */
  readonly epoch: number;
}

export interface AgentChangeEvent extends EventBase {
  /**
   * `registered`: a new id; `updated`: a known id came again; `withdrawn`: left by will or an operator's word;
   * `offline`: its lease ran out or `expiresAt` passed; `online`: it came back from offline by a heartbeat;
   * `evicted`: offline for so long that its record was removed.
   */
  readonly type:
    | 'agent.registered'
    | 'agent.updated'
    | 'agent.withdrawn'
    | 'agent.offline'
    | 'agent.online'
    | 'agent.evicted';
  readonly agentId: string;
  readonly namespace: string;
  readonly incarnation: number;
}

/** A move between states that leaves the agent registered and alive, for example online -> busy. */
export interface AgentStateEvent extends EventBase {
  readonly type: 'agent.state';
  readonly agentId: string;
  readonly namespace: string;
  readonly incarnation: number;
  readonly from: AgentState;
  readonly to: AgentState;
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
