/** Examples of the OpenAPI document about agents. A test parses each with its schema, so none can go stale. */
export const REGISTRATION = {
  agentId: 'weather-1',
  agentName: 'City weather',
  version: '1.4.0',
  capabilities: [
    {
      name: 'weather.query.city',
      description: 'Weather forecast for a city',
      examples: ['明天杭州会下雨吗', 'will it rain tomorrow'],
    },
  ],
  transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
  maxConcurrency: 8,
} as const;

export const REGISTRATION_REPLY = {
  agentId: 'weather-1',
  leaseId: 'lease_7m3k0c9w2t5x8b1q',
  incarnation: 1,
  heartbeatIntervalMs: 30_000,
  warnings: [],
} as const;

export const HEARTBEAT = {
  leaseId: 'lease_7m3k0c9w2t5x8b1q',
  load: { active: 2, queued: 0, max: 8 },
  status: 'healthy',
  avgLatencyMs: 120,
} as const;

export const HEARTBEAT_REPLY = {
  agentId: 'weather-1',
  incarnation: 1,
  state: 'online',
  nextHeartbeatMs: 29_120,
  warnings: [],
} as const;

export const AGENT_VIEW = {
  agentId: 'weather-1',
  agentName: 'City weather',
  version: '1.4.0',
  namespace: 'default',
  state: 'online',
  stateReason: 'registered',
  incarnation: 1,
  revision: 1,
  capabilities: REGISTRATION.capabilities,
  transport: REGISTRATION.transport,
  zone: null,
  tags: {},
  metadata: {},
  heartbeatIntervalMs: 30_000,
  timeoutMs: 5_000,
  maxConcurrency: 8,
  idempotent: false,
  load: 0.25,
  reportedLoad: { active: 2, queued: 0, max: 8 },
  avgLatencyMs: 120,
  registeredAt: '2026-01-01T00:00:00.000Z',
  lastSeenAt: '2026-01-01T00:00:30.000Z',
  expiresAt: null,
  cordoned: null,
  drain: null,
  lastProbe: null,
} as const;

const BATCH_REPLY = { agentId: 'weather-1', incarnation: 1, state: 'online', nextHeartbeatMs: 29_120, warnings: [] };
const FORGOTTEN = {
  code: 'AR_ERR_LEASE_FORGOTTEN',
  detail: 'no agent is registered as mail-1 any more: register again',
};

export const HEARTBEAT_BATCH = {
  beats: [
    { agentId: 'weather-1', ...HEARTBEAT },
    { agentId: 'mail-1', leaseId: 'lease_2x9f4h7k1m3p5r8t' },
  ],
} as const;

export const HEARTBEAT_BATCH_REPLY = {
  results: [BATCH_REPLY, { agentId: 'mail-1', error: FORGOTTEN }],
  refused: 1,
} as const;

export const OUTCOME_REPORT = { outcome: 'timeout', requestId: 'req_8k2m1' } as const;

export const OUTCOME_REPLY = {
  agentId: 'weather-1',
  state: 'suspect',
  stateReason: 'failure_reported',
  counted: true,
} as const;

export const CORDON = { reason: 'disk errors on its host' } as const;

export const CORDONED_AGENT = {
  ...AGENT_VIEW,
  state: 'cordoned',
  stateReason: 'cordoned',
  revision: 2,
  cordoned: { by: 'ops', at: '2026-01-01T00:00:40.000Z', reason: CORDON.reason },
} as const;

export const DRAIN = { drainTimeoutMs: 60_000 } as const;

export const DRAINING_AGENT = {
  ...AGENT_VIEW,
  state: 'draining',
  stateReason: 'drain_asked',
  revision: 2,
  drain: { by: 'ops', at: '2026-01-01T00:00:40.000Z', until: '2026-01-01T00:01:40.000Z' },
} as const;

export const AGENT_PAGE = { items: [AGENT_VIEW], nextCursor: null, registryEpoch: 12 } as const;
