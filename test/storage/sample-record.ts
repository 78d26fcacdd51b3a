import type { AgentId } from '../../src/core/index.ts';
import type { AgentRecord } from '../../src/registry/index.ts';

export function sampleRecord(agentId: string, changes: Partial<AgentRecord> = {}): AgentRecord {
  return {
    agentId: agentId as AgentId,
    agentName: `天气 ${agentId}`,
    version: '1.0.0',
    namespace: 'default',
    capabilities: [],
    transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
    heartbeatIntervalMs: 30_000,
    timeoutMs: 5_000,
    maxConcurrency: 8,
    idempotent: false,
    zone: null,
    tags: { team: 'weather' },
    metadata: { nested: [1, null, { deep: true }] },
    leaseId: 'lease_1' as AgentRecord['leaseId'],
    incarnation: 1,
    revision: 1,
    registeredAt: 1_700_000_000_000,
    expiresAt: null,
    offlineAt: null,
    cordoned: null,
    drain: null,
    ...changes,
  };
}
