import type { CapabilityDefinition } from '../capability/index.ts';
import type { AgentState, HeartbeatStatus, Load, StateReason, Transport } from '../contract/index.ts';
import type { AgentId, LeaseId } from '../core/index.ts';

/** An operator's fence around an agent; outlives its restarts and ours. */
export interface Cordon {
  /** Id of the API key. */
  readonly by: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly reason: string;
}

/** No new work for this start of the agent; a new registration ends it. */
export interface Drain {
  /** Id of the operator's API key; null: the agent's own word, which its own word takes back. */
  readonly by: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Epoch milliseconds from which on it is offline; null: until it says otherwise or leaves. */
  readonly until: number | null;
}

/**
 * What is stored of an agent: survives restarts and is the same for every instance. Immutable. Of two records of one
 * agent the newer has the higher incarnation, or the same and the higher revision.
 */
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
  /** Rises with each start of the agent. */
  readonly incarnation: number;
  /** Rises with each change that others can see; a new start that says the same keeps it. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly expiresAt: number | null;
  /** Epoch milliseconds of going offline; null while alive. Stored, so that a dead agent stays dead over a restart. */
  readonly offlineAt: number | null;
  readonly cordoned: Cordon | null;
  readonly drain: Drain | null;
}

/** Why an agent is not trusted fully; ended by a beat or by a probe that answers. */
export interface Suspicion {
  readonly cause: 'silence' | 'report';
  /** `clock.now()`. */
  readonly at: number;
  /** Its lease ran out too; it is kept only because too many ran out together. */
  readonly isLapsed: boolean;
}

/** What the last probe of this start found. */
export interface ProbeFinding {
  /** `clock.now()`. */
  readonly at: number;
  readonly isAnswered: boolean;
  /** In words. */
  readonly detail: string;
}

/**
 * What is known of an agent's life right now: in memory only, replaced (never changed) by each beat. Times ending in
 * `DueAt`, and `heardAt`, are of `clock.now()`: no wall clock, ours or an agent's, moves them.
 */
export interface AgentLiveness {
  readonly state: AgentState;
  /** Why it came to this state. */
  readonly reason: StateReason;
  readonly status: HeartbeatStatus;
  readonly load: Load | null;
  /** Mean of the share in use over about half a minute; null until reported. */
  readonly meanLoad: number | null;
  /** Exponentially weighted mean of the agent's reported answers; null until reported. */
  readonly avgLatencyMs: number | null;
  /** Epoch milliseconds, for people. */
  readonly lastSeenAt: number;
  /** The last beat or registration. */
  readonly heardAt: number;
  /** Beats missed since, as far as they were acted on. */
  readonly missedBeats: number;
  /** The lease ran out, and that was acted on. */
  readonly hasLapsed: boolean;
  readonly suspicion: Suspicion | null;
  readonly probe: ProbeFinding | null;
  readonly ejectedDueAt: number | null;
  /** While it is new its weight grows from one moment to the other; null: it has it in full. */
  readonly warmUp: { readonly from: number; readonly until: number } | null;
  readonly expiryDueAt: number | null;
  readonly drainDueAt: number | null;
  readonly evictionDueAt: number | null;
}

export interface RegisteredAgent {
  readonly record: AgentRecord;
  readonly liveness: AgentLiveness;
}
