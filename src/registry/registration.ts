/** From a registration as sent to the record that is kept, and the checks between the two. Pure. */
import type { CapabilityDefinition } from '../capability/index.ts';
import type { Registration } from '../contract/index.ts';
import { type AgentId, AgentReachError, type LeaseId } from '../core/index.ts';
import type { AgentLiveness, AgentRecord, RegisteredAgent } from './agent-record.ts';
import { stateOf } from './health.ts';

export interface Grant {
  readonly leaseId: LeaseId;
  readonly incarnation: number;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
}

/** Epoch milliseconds, or null where the agent never expires. Error: AR_ERR_INVALID_REQUEST for a time gone by. */
export function expiryOf(registration: Registration, nowAt: number): number | null {
  const { expiresAt, ttl } = registration;
  if (ttl !== undefined) return nowAt + Math.round(ttl * 1_000);
  if (expiresAt === undefined) return null;
  const at = Date.parse(expiresAt);
  if (at > nowAt) return at;
  const message = 'must be in the future';
  throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
    detail: `expiresAt ${message}: it is ${new Date(nowAt).toISOString()} now`,
    issues: [{ path: 'expiresAt', message }],
  });
}

export function recordOf(
  registration: Registration,
  capabilities: readonly CapabilityDefinition[],
  grant: Grant,
): AgentRecord {
  return {
    agentId: registration.agentId as AgentId,
    agentName: registration.agentName ?? registration.agentId,
    version: registration.version,
    namespace: registration.namespace,
    capabilities,
    transport: registration.transport,
    heartbeatIntervalMs: registration.heartbeatIntervalMs,
    timeoutMs: registration.timeoutMs,
    maxConcurrency: registration.maxConcurrency,
    idempotent: registration.idempotent,
    zone: registration.zone ?? null,
    tags: registration.tags,
    metadata: registration.metadata,
    leaseId: grant.leaseId,
    incarnation: grant.incarnation,
    registeredAt: grant.registeredAt,
    expiresAt: expiryOf(registration, grant.registeredAt),
    offlineAt: null,
  };
}

/** An agent of whom nothing is known yet but its record. */
export function freshAgent(record: AgentRecord, lastSeenAt: number): RegisteredAgent {
  const status = 'healthy';
  const liveness: AgentLiveness = {
    state: stateOf({ isOffline: record.offlineAt !== null, status }),
    status,
    load: null,
    avgLatencyMs: null,
    lastSeenAt,
  };
  return { record, liveness };
}
