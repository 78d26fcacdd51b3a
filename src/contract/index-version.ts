/** Index versions as seen over the API. */
import { z } from 'zod';
import { label } from './fields.ts';

export const indexVersionSchema = z
  .strictObject({
    id: z.string(),
    modelId: z.string(),
    fingerprint: z.string(),
    dimensions: z.int(),
    kind: z.enum(['hnsw', 'flat']),
    count: z.int(),
    builtAt: z.string(),
    buildMs: z.number(),
    by: z.string(),
    why: z.string(),
    embedded: z.int(),
    reused: z.int(),
    removed: z.int(),
    selfCheck: z.strictObject({ recallAt10: z.number(), samples: z.int() }).nullable(),
    current: z.boolean(),
  })
  .meta({ id: 'IndexVersion' });
export type IndexVersion = z.infer<typeof indexVersionSchema>;

export const indexVersionListSchema = z
  .strictObject({
    current: z.string(),
    /** Vectors added since the current version was built. */
    delta: z.int(),
    items: z.array(indexVersionSchema),
  })
  .meta({ id: 'IndexVersionList' });
export type IndexVersionList = z.infer<typeof indexVersionListSchema>;

export const rebuildRequestSchema = z
  .strictObject({ reason: label(200).optional() })
  .meta({ id: 'RebuildRequest', example: {} });

export const rebuildReplySchema = z
  .strictObject({ version: z.string(), report: indexVersionSchema })
  .meta({ id: 'RebuildReply' });
export type RebuildReply = z.infer<typeof rebuildReplySchema>;

/** What `text/event-stream` readers of a rebuild get, event name = phase. */
export const rebuildProgressSchema = z.strictObject({
  phase: z.enum(['texts', 'build', 'check', 'write', 'load']),
  done: z.int(),
  total: z.int(),
});
export type RebuildProgress = z.infer<typeof rebuildProgressSchema>;
