/** What agents, callers and operators say of an agent's health beside its own single beat. */
import { z } from 'zod';
import {
  agentStateSchema,
  heartbeatReplySchema,
  heartbeatSchema,
  registryFlagsSchema,
  stateReasonSchema,
} from './agent.ts';
import { agentIdField, label, text } from './fields.ts';

export const MAX_BEATS = 1_000;

/** Whoever runs many agents beats for them together. */
export const heartbeatBatchSchema = z
  .strictObject({
    beats: z
      .array(heartbeatSchema.extend({ agentId: agentIdField }))
      .min(1)
      .max(MAX_BEATS),
  })
  .meta({
    id: 'HeartbeatBatch',
    example: { beats: [{ agentId: 'weather-1', leaseId: 'lease_7m3k0c9w2t5x8b1q', load: { active: 2, queued: 0 } }] },
  });
export type HeartbeatBatch = z.infer<typeof heartbeatBatchSchema>;

const refusedBeatSchema = z.strictObject({
  agentId: z.string(),
  error: z.strictObject({ code: z.string(), detail: z.string() }),
});

export const heartbeatBatchReplySchema = z
  .strictObject({
    /** In the order of the beats; a refused beat says so and keeps none of the others from counting. */
    results: z.array(z.union([heartbeatReplySchema, refusedBeatSchema])),
    refused: z.int(),
    registry: registryFlagsSchema.optional(),
  })
  .meta({ id: 'HeartbeatBatchReply' });
export type HeartbeatBatchReply = z.infer<typeof heartbeatBatchReplySchema>;

export const outcomeSchema = z.enum(['success', 'failure', 'timeout', 'refused']);

/** What a caller saw of an agent that it was routed to. */
export const outcomeReportSchema = z
  .strictObject({
    outcome: outcomeSchema,
    requestId: text(128, 1)
      .optional()
      .meta({ description: 'Of the route; a second report with the same one counts nothing.' }),
    detail: text(512).optional(),
  })
  .meta({ id: 'OutcomeReport', example: { outcome: 'timeout', requestId: 'req_8k2m1' } });
export type OutcomeReport = z.infer<typeof outcomeReportSchema>;

export const outcomeReplySchema = z
  .strictObject({
    agentId: z.string(),
    state: agentStateSchema,
    stateReason: stateReasonSchema,
    counted: z.boolean().meta({ description: 'False where the same request was reported before.' }),
  })
  .meta({ id: 'OutcomeReply' });
export type OutcomeReply = z.infer<typeof outcomeReplySchema>;

export const cordonRequestSchema = z
  .strictObject({ reason: label(256) })
  .meta({ id: 'CordonRequest', example: { reason: 'disk errors on its host' } });
export type CordonRequest = z.infer<typeof cordonRequestSchema>;

export const drainRequestSchema = z
  .strictObject({ drainTimeoutMs: z.int().min(0).max(86_400_000).optional() })
  .meta({ id: 'DrainRequest', example: { drainTimeoutMs: 60_000 } });
export type DrainRequest = z.infer<typeof drainRequestSchema>;
