/** Agents as the outside sees them: one at a time, or filtered in pages. Leases are never shown. */

import type { CapabilityDefinition } from '../capability/index.ts';
import type { AgentPage, AgentView, CapabilityObject, ListAgentsQuery } from '../contract/index.ts';
import { decodeCursor, pageOf } from '../core/index.ts';
import type { AgentDirectory } from './agent-directory.ts';
import type { Drain, RegisteredAgent } from './agent-record.ts';
import { loadShare } from './load.ts';

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

const isoTime = (at: number): string => new Date(at).toISOString();

function capabilityObject(definition: CapabilityDefinition): CapabilityObject {
  const { name, description, examples, aliases, sensitive, inputSchema, timeoutMs, idempotent } = definition;
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(examples.length === 0 ? {} : { examples: [...examples] }),
    ...(aliases.length === 0 ? {} : { aliases: [...aliases] }),
    ...(sensitive ? { sensitive } : {}),
    ...(inputSchema === undefined ? {} : { inputSchema: inputSchema as CapabilityObject['inputSchema'] }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(idempotent === undefined ? {} : { idempotent }),
  };
}

export function agentView({ record, liveness }: RegisteredAgent): AgentView {
  return {
    agentId: record.agentId,
    agentName: record.agentName,
    version: record.version,
    namespace: record.namespace,
    state: liveness.state,
    stateReason: liveness.reason,
    incarnation: record.incarnation,
    revision: record.revision,
    capabilities: record.capabilities.map(capabilityObject),
    transport: record.transport,
    zone: record.zone,
    tags: { ...record.tags },
    metadata: { ...record.metadata },
    heartbeatIntervalMs: record.heartbeatIntervalMs,
    timeoutMs: record.timeoutMs,
    maxConcurrency: record.maxConcurrency,
    idempotent: record.idempotent,
    load: loadShare(record, liveness.load),
    reportedLoad: liveness.load,
    avgLatencyMs: liveness.avgLatencyMs,
    registeredAt: isoTime(record.registeredAt),
    lastSeenAt: isoTime(liveness.lastSeenAt),
    expiresAt: record.expiresAt === null ? null : isoTime(record.expiresAt),
    cordoned: record.cordoned === null ? null : { ...record.cordoned, at: isoTime(record.cordoned.at) },
    drain: record.drain === null ? null : drainView(record.drain),
    lastProbe: liveness.probe === null ? null : { answered: liveness.probe.isAnswered, detail: liveness.probe.detail },
  };
}

function drainView({ by, at, until }: Drain): AgentView['drain'] {
  return { by, at: isoTime(at), until: until === null ? null : isoTime(until) };
}

/** `key` or `key:value`; a value may hold colons itself. */
function hasTag(tags: Readonly<Record<string, string>>, wanted: string): boolean {
  const colonAt = wanted.indexOf(':');
  if (colonAt < 0) return Object.hasOwn(tags, wanted);
  const key = wanted.slice(0, colonAt);
  return Object.hasOwn(tags, key) && tags[key] === wanted.slice(colonAt + 1);
}

function isWanted({ record, liveness }: RegisteredAgent, query: ListAgentsQuery): boolean {
  if (query.namespace !== undefined && record.namespace !== query.namespace) return false;
  if (query.state !== undefined && liveness.state !== query.state) return false;
  if (query.zone !== undefined && record.zone !== query.zone) return false;
  if (query.tag !== undefined && !hasTag(record.tags, query.tag)) return false;
  const { capability, domain } = query;
  if (capability !== undefined && !record.capabilities.some(({ name }) => name === capability)) return false;
  return domain === undefined || record.capabilities.some(({ name }) => name.startsWith(`${domain}.`));
}

/** Error: AR_ERR_INVALID_CURSOR. */
export function listAgents(directory: AgentDirectory, query: ListAgentsQuery): AgentPage {
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, AGENT_ID);
  const wanted = directory.sorted().filter((agent) => isWanted(agent, query));
  const page = pageOf(wanted, (agent) => agent.record.agentId, { after, limit: query.limit });
  return {
    items: page.items.map(agentView),
    nextCursor: page.nextCursor,
    registryEpoch: directory.epoch,
    ...(directory.preserving ? { registry: { preserving: true } } : {}),
  };
}
