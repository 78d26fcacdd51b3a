/** Registration, heartbeat and what the registry answers about an agent. */
import { z } from 'zod';
import { capabilityObjectSchema, capabilitySchema } from './capability.ts';
import {
  agentIdField,
  cursorField,
  label,
  leaseIdField,
  metadataField,
  namespaceField,
  pageLimitField,
  queryCount,
  tagsField,
  text,
  zoneField,
} from './fields.ts';

export const transportTypeSchema = z.enum(['http', 'websocket', 'queue', 'local']);

export const transportSchema = z
  .strictObject({
    type: transportTypeSchema,
    /** Where calls go. Needed for http; the others may leave it out (the agent opens the socket or reads a queue). */
    endpoint: text(2_048, 1).optional(),
    healthEndpoint: text(2_048, 1)
      .optional()
      .meta({ description: 'Asked with GET when the agent is doubted; answers 2xx, optionally {status}.' }),
  })
  .meta({ id: 'Transport', example: { type: 'http', endpoint: 'http://127.0.0.1:9001' } });
export type Transport = z.infer<typeof transportSchema>;

export const registrationSchema = z
  .strictObject({
    agentId: agentIdField,
    agentName: label(128).optional().meta({ description: 'For people. Default: the agentId.' }),
    version: label(64).default('0.0.0'),
    capabilities: z.array(capabilitySchema).min(1).max(256),
    transport: transportSchema,
    heartbeatIntervalMs: z.int().min(100).max(86_400_000).default(30_000),
    timeoutMs: z.int().min(1).max(3_600_000).default(5_000),
    maxConcurrency: z.int().min(1).max(1_000_000).default(8),
    idempotent: z.boolean().default(false),
    zone: zoneField.optional(),
    tags: tagsField.default({}),
    metadata: metadataField.default({}),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
    /** Seconds from this registration to expiry: the older spelling of `expiresAt`. */
    ttl: z.number().min(1).max(315_360_000).optional(),
    namespace: namespaceField.default('default'),
  })
  .refine((value) => value.expiresAt === undefined || value.ttl === undefined, {
    path: ['ttl'],
    message: 'give expiresAt or ttl, not both',
  })
  .meta({
    id: 'Registration',
    example: {
      agentId: 'weather-1',
      agentName: 'City weather',
      version: '1.4.0',
      capabilities: [{ name: 'weather.query.city', description: 'Weather forecast for a city' }],
      transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
      maxConcurrency: 8,
    },
  });
export type Registration = z.infer<typeof registrationSchema>;

export const warningSchema = z
  .strictObject({ code: z.string(), message: z.string(), capability: z.string().optional() })
  .meta({ id: 'Warning' });
export type Warning = z.infer<typeof warningSchema>;

export const registrationReplySchema = z
  .strictObject({
    agentId: z.string(),
    leaseId: z.string(),
    incarnation: z.int(),
    heartbeatIntervalMs: z.int(),
    warnings: z.array(warningSchema),
  })
  .meta({
    id: 'RegistrationReply',
    example: {
      agentId: 'weather-1',
      leaseId: 'lease_7m3k0c9w2t5x8b1q',
      incarnation: 1,
      heartbeatIntervalMs: 30000,
      warnings: [],
    },
  });
export type RegistrationReply = z.infer<typeof registrationReplySchema>;

const count = z.int().min(0).max(1_000_000);

export const loadSchema = z
  .strictObject({
    /** Tasks running now. */
    active: count,
    /** Tasks waiting inside the agent. */
    queued: count.default(0),
    /** What it can run at once now; default: its maxConcurrency. */
    max: z.int().min(1).max(1_000_000).optional(),
  })
  .meta({ id: 'Load', example: { active: 2, queued: 0, max: 8 } });
export type Load = z.infer<typeof loadSchema>;

export const heartbeatStatusSchema = z.enum(['healthy', 'busy', 'draining']);
export type HeartbeatStatus = z.infer<typeof heartbeatStatusSchema>;

export const heartbeatSchema = z
  .strictObject({
    leaseId: leaseIdField,
    load: loadSchema.optional(),
    status: heartbeatStatusSchema.optional(),
    avgLatencyMs: z.number().min(0).max(3_600_000).optional(),
    drainTimeoutMs: z
      .int()
      .min(0)
      .max(86_400_000)
      .optional()
      .meta({ description: 'With `draining`: how long running work may take until the agent counts as offline.' }),
  })
  .meta({
    id: 'Heartbeat',
    example: { leaseId: 'lease_7m3k0c9w2t5x8b1q', load: { active: 2, queued: 0, max: 8 }, avgLatencyMs: 120 },
  });
export type Heartbeat = z.infer<typeof heartbeatSchema>;

/** What every answer says of the registry as a whole, while there is something to say. */
export const registryFlagsSchema = z
  .strictObject({
    preserving: z.boolean().meta({ description: 'Too many leases ran out together: nobody is evicted for now.' }),
  })
  .meta({ id: 'RegistryFlags' });
export type RegistryFlags = z.infer<typeof registryFlagsSchema>;

export const heartbeatReplySchema = z
  .strictObject({
    agentId: z.string(),
    incarnation: z.int(),
    state: z.string(),
    /** When to beat next: the interval with +-10 % jitter. */
    nextHeartbeatMs: z.int(),
    warnings: z.array(warningSchema),
    registry: registryFlagsSchema.optional(),
  })
  .meta({ id: 'HeartbeatReply' });
export type HeartbeatReply = z.infer<typeof heartbeatReplySchema>;

export const agentStateSchema = z
  .enum(['online', 'suspect', 'busy', 'draining', 'ejected', 'cordoned', 'offline'])
  .meta({ id: 'AgentState' });
export type AgentState = z.infer<typeof agentStateSchema>;

/** Why an agent came to its state; also `why` of the event that told of it. */
export const stateReasonSchema = z
  .enum([
    'registered',
    'loaded',
    'beat',
    'beat_missed',
    'failure_reported',
    'probe_answered',
    'probe_failed',
    'lease_lapsed',
    'expired',
    'drain_asked',
    'drain_ended',
    'drain_over',
    'ejected',
    'ejection_over',
    'cordoned',
    'uncordoned',
  ])
  .meta({ id: 'StateReason' });
export type StateReason = z.infer<typeof stateReasonSchema>;

export const cordonSchema = z
  .strictObject({ by: z.string(), at: z.string(), reason: z.string() })
  .meta({ id: 'Cordon' });

export const drainSchema = z
  .strictObject({
    by: z.string().nullable().meta({ description: 'Key of the operator; null: the agent itself.' }),
    at: z.string(),
    until: z.string().nullable(),
  })
  .meta({ id: 'Drain' });

export const agentViewSchema = z
  .strictObject({
    agentId: z.string(),
    agentName: z.string(),
    version: z.string(),
    namespace: z.string(),
    state: agentStateSchema,
    stateReason: stateReasonSchema,
    incarnation: z.int(),
    revision: z.int().meta({ description: 'Rises with each change of the agent that others can see.' }),
    capabilities: z.array(capabilityObjectSchema),
    transport: transportSchema,
    zone: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    metadata: z.record(z.string(), z.unknown()),
    heartbeatIntervalMs: z.int(),
    timeoutMs: z.int(),
    maxConcurrency: z.int(),
    idempotent: z.boolean(),
    /** Share of its concurrency in use, 0..1; null until it reported one. */
    load: z.number().nullable(),
    reportedLoad: loadSchema.nullable(),
    avgLatencyMs: z.number().nullable(),
    registeredAt: z.string(),
    lastSeenAt: z.string(),
    expiresAt: z.string().nullable(),
    cordoned: cordonSchema.nullable(),
    drain: drainSchema.nullable(),
    lastProbe: z
      .strictObject({ answered: z.boolean(), detail: z.string() })
      .nullable()
      .meta({ description: 'What the health endpoint said when the agent was last doubted.' }),
  })
  .meta({ id: 'Agent' });
export type AgentView = z.infer<typeof agentViewSchema>;

export const listAgentsQuerySchema = z.strictObject({
  namespace: namespaceField.optional(),
  capability: z.string().max(256).optional(),
  domain: z.string().max(63).optional(),
  /** `key` or `key:value`. */
  tag: z.string().min(1).max(330).optional(),
  zone: z.string().max(63).optional(),
  state: agentStateSchema.optional(),
  limit: pageLimitField,
  cursor: cursorField.optional(),
  /** Answers only once `registryEpoch` is another one than this, or the wait is over. */
  waitIndex: queryCount(0, 999_999_999).optional(),
  waitMs: queryCount(0, 60_000).optional(),
});
export type ListAgentsQuery = z.infer<typeof listAgentsQuerySchema>;

export const agentPageSchema = z
  .strictObject({
    items: z.array(agentViewSchema),
    nextCursor: z.string().nullable(),
    registryEpoch: z.int(),
    registry: registryFlagsSchema.optional(),
  })
  .meta({ id: 'AgentPage' });
export type AgentPage = z.infer<typeof agentPageSchema>;
