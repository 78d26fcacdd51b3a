/** The error body that every face sends (RFC 9457), and the small service replies. */
import { z } from 'zod';
import { registryFlagsSchema } from './agent.ts';

export const problemSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string(),
    retryable: z.boolean(),
    issues: z.array(z.strictObject({ path: z.string(), message: z.string() })),
    suggestions: z.array(z.string()).optional(),
  })
  .meta({
    id: 'Problem',
    example: {
      type: 'urn:agent-reach:error:AR_ERR_INVALID_CAPABILITY',
      title: 'The capability name breaks the grammar domain.action.object.',
      status: 400,
      detail: '"weather.qurey" has 2 segments; 3 are needed: domain.action.object',
      code: 'AR_ERR_INVALID_CAPABILITY',
      requestId: 'req_8k2m1',
      retryable: false,
      issues: [{ path: 'capabilities[0]', message: 'has 2 segments; 3 are needed' }],
    },
  });
export type Problem = z.infer<typeof problemSchema>;

export const readinessSchema = z
  .strictObject({
    ready: z.boolean(),
    /** True while routing goes on without the model. */
    degraded: z.boolean(),
    checks: z.record(z.string(), z.strictObject({ ok: z.boolean(), detail: z.string() })),
    indexVersion: z.string(),
    registryEpoch: z.int(),
  })
  .meta({ id: 'Readiness' });
export type Readiness = z.infer<typeof readinessSchema>;

export const livenessSchema = z
  .strictObject({
    status: z.literal('ok'),
    version: z.string(),
    uptimeMs: z.number(),
    /** The store that instances share is not heard: the service goes on with what it knew `staleMs` ago. */
    stale: z.literal(true).optional(),
    staleMs: z.int().optional(),
    registry: registryFlagsSchema.optional(),
  })
  .meta({ id: 'Liveness' });
