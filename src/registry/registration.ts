/** From a registration as sent to the record that is kept, and the checks between the two. Pure. */
import type { CapabilityDefinition } from '../capability/index.ts';
import type { Registration } from '../contract/index.ts';
import { type AgentId, AgentReachError, type LeaseId } from '../core/index.ts';
import type { AgentLiveness, AgentRecord, RegisteredAgent } from './agent-record.ts';
import { factsOf, stateOf } from './health.ts';
import type { Moment } from './heartbeat.ts';

export interface Grant {
  readonly leaseId: LeaseId;
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

/**
 * The record of a new start. What an operator fenced off stays so; a drain ends with the start that it was for. One
 * that says what the last one said keeps its capabilities (the very object) and, where it was well, its revision.
 */
export function recordOf(
  registration: Registration,
  capabilities: readonly CapabilityDefinition[],
  grant: Grant,
  old: AgentRecord | undefined,
): AgentRecord {
  const record: AgentRecord = {
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
    incarnation: (old?.incarnation ?? 0) + 1,
    revision: (old?.revision ?? 0) + 1,
    registeredAt: grant.registeredAt,
    expiresAt: expiryOf(registration, grant.registeredAt),
    offlineAt: null,
    cordoned: old?.cordoned ?? null,
    drain: null,
  };
  if (old === undefined || !saysTheSame(record, old, registration.ttl !== undefined)) return record;
  const isWell = old.offlineAt === null && old.drain === null;
  return { ...record, capabilities: old.capabilities, revision: isWell ? old.revision : record.revision };
}

/** Beyond what memory made of the last start, `before`, while the new one was stored. */
export function countedOn(
  record: AgentRecord,
  before: AgentRecord | undefined,
  latest: AgentRecord | undefined,
): AgentRecord {
  if (latest === undefined || latest === before) return record;
  return { ...record, revision: Math.max(record.revision, latest.revision + 1) };
}

/** A `ttl` is a term like the lease, counted from each start: it says nothing new. */
function saysTheSame(record: AgentRecord, old: AgentRecord, hasTerm: boolean): boolean {
  return (record.expiresAt === old.expiresAt || hasTerm) && contentOf(record) === contentOf(old);
}

/** What an agent says of itself; its term apart. */
export function contentOf(record: AgentRecord): string {
  const { leaseId, incarnation, revision, registeredAt, expiresAt, offlineAt, cordoned, drain, ...content } = record;
  return JSON.stringify(content);
}

/** An agent of whom nothing is known yet but its record. */
export function freshAgent(
  record: AgentRecord,
  reason: 'registered' | 'loaded',
  moment: Moment,
  warmUp: AgentLiveness['warmUp'] = null,
): RegisteredAgent {
  // From here on its deadlines are of the clock that never goes back.
  const dueAt = (at: number | null): number | null => (at === null ? null : moment.nowMs + (at - moment.wallAt));
  const known: Omit<AgentLiveness, 'state' | 'reason'> = {
    status: 'healthy',
    load: null,
    meanLoad: null,
    avgLatencyMs: null,
    lastSeenAt: record.offlineAt ?? moment.wallAt,
    heardAt: moment.nowMs,
    missedBeats: 0,
    hasLapsed: false,
    suspicion: null,
    probe: null,
    ejectedDueAt: null,
    warmUp,
    expiryDueAt: dueAt(record.expiresAt),
    drainDueAt: dueAt(record.drain?.until ?? null),
    evictionDueAt: null,
  };
  return { record, liveness: { ...known, state: stateOf(factsOf(record, known)), reason } };
}
