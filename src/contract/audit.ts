/** The record of decisions about sensitive capabilities: who reached one, who was kept off. */
import { z } from 'zod';
import { capabilityNameField, cursorField, pageLimitField } from './fields.ts';
import { decisionSchema, matchedBySchema } from './route.ts';

/** `near_miss`: the intent came near by meaning only, and nothing was reached. */
export const auditOutcomeSchema = z.enum(['reached', 'scope_required', 'near_miss']);
export type AuditOutcome = z.infer<typeof auditOutcomeSchema>;

export const auditRecordSchema = z
  .strictObject({
    /** Rises by one; a missing number is a decision that could not be stored and was not answered. */
    seq: z.int(),
    at: z.string(),
    requestId: z.string(),
    keyId: z.string(),
    namespace: z.string(),
    capability: z.string(),
    outcome: auditOutcomeSchema,
    decision: decisionSchema,
    agentId: z.string().nullable(),
    matchedBy: matchedBySchema.nullable(),
    ruleId: z.string().nullable(),
    rulesVersion: z.int(),
    /** SHA-256 of the canonical intent; null where the capability was asked for by field. */
    intentHash: z.string().nullable(),
    /** The canonical intent; null too where texts are not kept. */
    intent: z.string().nullable(),
    /** Only where the caller said so: asked to measure, as eval and lint do. What was answered is the same. */
    probe: z.literal(true).optional(),
  })
  .meta({ id: 'AuditRecord' });
export type AuditRecord = z.infer<typeof auditRecordSchema>;

export const listAuditQuerySchema = z.strictObject({
  capability: capabilityNameField.optional(),
  outcome: auditOutcomeSchema.optional(),
  limit: pageLimitField,
  cursor: cursorField.optional(),
});
export type ListAuditQuery = z.infer<typeof listAuditQuerySchema>;

/** Newest first. A page may hold fewer than asked for: go on while there is a cursor. */
export const auditPageSchema = z
  .strictObject({ items: z.array(auditRecordSchema), nextCursor: z.string().nullable() })
  .meta({ id: 'AuditPage' });
export type AuditPage = z.infer<typeof auditPageSchema>;
