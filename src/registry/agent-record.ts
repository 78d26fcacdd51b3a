import type { CapabilityDefinition } from '../capability/index.ts';
import type { AgentState, HeartbeatStatus, Load, Transport } from '../contract/index.ts';
import type { AgentId, LeaseId } from '../core/index.ts';

/** What is stored of an agent: survives restarts, changes only by registration, withdrawal or expiry. Immutable. */
export interface AgentRecord {
  readonly agentId: AgentId;
  readonly agentName: string;
  readonly version: string;
  readonly namespace: string;
  readonly capabilities: readonly CapabilityDefinition[];
  readonly transport: Transport;
  readonly heartbeatIntervalMs: number;
  readonly timeoutMs: number;
  readonly maxConcurrency: number;
  readonly idempotent: boolean;
  readonly zone: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly leaseId: LeaseId;
  readonly incarnation: number;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly expiresAt: number | null;
  /** Epoch milliseconds of going offline; null while alive. Stored, so that a dead agent stays dead over a restart. */
  readonly offlineAt: number | null;
}

/** What is known of an agent's life right now: in memory only, replaced (never changed) by each beat. */
export interface AgentLiveness {
  readonly state: AgentState;
  readonly status: HeartbeatStatus;
  readonly load: Load | null;
  /** Exponentially weighted mean of the agent's reported answers; null until reported. */
  readonly avgLatencyMs: number | null;
  /** Epoch milliseconds. */
  readonly lastSeenAt: number;
}

export interface RegisteredAgent {
  readonly record: AgentRecord;
  readonly liveness: AgentLiveness;
}
