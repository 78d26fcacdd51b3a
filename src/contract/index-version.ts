/** Index versions as seen over the API. */
import { z } from 'zod';
import { label } from './fields.ts';
import { goldenMissSchema } from './golden.ts';

export const indexVersionIdField = z
  .string()
  .regex(/^v\d{6,15}$/, { message: 'must be the id of a version, such as v000002' })
  .meta({ example: 'v000002' });

const goldenCountSchema = z.strictObject({ right: z.int(), lines: z.int() });

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
    selfCheck: z
      .strictObject({
        recallAt10: z.number(),
        samples: z.int(),
        /** Texts that are found when asked for themselves, of all. */
        reachableShare: z.number().optional(),
        golden: goldenCountSchema.optional(),
        /** Namespaces whose phrases taught more than their nearest tells; unused where golden lines got worse by it. */
        heads: z.strictObject({ learnt: z.int(), used: z.boolean() }).optional(),
      })
      .nullable(),
    current: z.boolean(),
  })
  .meta({ id: 'IndexVersion' });
export type IndexVersion = z.infer<typeof indexVersionSchema>;

/** A rebuild that came to nothing; the version before serves on. */
export const indexFailureSchema = z.strictObject({
  at: z.string(),
  why: z.string(),
  reason: z.string(),
  /** recall, reachable, golden; null: it did not come to the checks. */
  check: z.enum(['recall', 'reachable', 'golden']).nullable(),
  /** The golden lines or texts that failed. */
  lines: z.array(z.string()),
});
export type IndexFailure = z.infer<typeof indexFailureSchema>;

/** Since a rollback: rebuilds by themselves wait until a rebuild is asked for. */
export const indexHeldSchema = z.strictObject({ version: z.string(), heldAt: z.string(), by: z.string() });
export type IndexHeld = z.infer<typeof indexHeldSchema>;

/** A running instance of those over one store. */
export const indexInstanceSchema = z.strictObject({
  instance: z.string(),
  /** Fingerprint of its embedding model: instances of one model share their versions. */
  model: z.string(),
  /** That it serves, as far as it last said. */
  version: z.string(),
  /** Whether it is the one that answers this. */
  isAnswering: z.boolean(),
});
export type IndexInstance = z.infer<typeof indexInstanceSchema>;

export const indexVersionListSchema = z
  .strictObject({
    current: z.string(),
    /** Vectors added since the current version was built. */
    delta: z.int(),
    items: z.array(indexVersionSchema),
    /** Folders that cannot be served, and why. */
    refused: z.array(z.strictObject({ id: z.string(), problem: z.string() })),
    held: indexHeldSchema.nullable(),
    lastFailure: indexFailureSchema.nullable(),
    /** Where several instances share the store: which run now, and what each serves. */
    instances: z.array(indexInstanceSchema).optional(),
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

/** What `text/event-stream` readers of a rebuild or a verification get. */
export const rebuildProgressSchema = z.strictObject({
  phase: z.enum(['texts', 'build', 'check', 'write', 'golden', 'load']),
  done: z.int(),
  total: z.int(),
});
export type RebuildProgress = z.infer<typeof rebuildProgressSchema>;

export const rollbackRequestSchema = z.strictObject({ version: indexVersionIdField }).meta({ id: 'RollbackRequest' });

export const rollbackReplySchema = z
  .strictObject({
    version: z.string(),
    held: indexHeldSchema,
    /** Capabilities that are found by other texts now than their agents say. */
    restored: z.int(),
    report: indexVersionSchema,
  })
  .meta({ id: 'RollbackReply' });
export type RollbackReply = z.infer<typeof rollbackReplySchema>;

export const verifyRequestSchema = z.strictObject({ version: indexVersionIdField.optional() }).meta({
  id: 'VerifyRequest',
});

export const verifyReplySchema = z
  .strictObject({
    version: z.string(),
    ok: z.boolean(),
    /** In words, what is wrong; empty when ok. */
    problems: z.array(z.string()),
    /** Null for kind `flat`, and when the files do not hold. */
    recallAt10: z.number().nullable(),
    samples: z.int(),
    unreachable: z.array(z.string()),
    /** What the version answers to the golden set, or would after a rollback. Null when it cannot be asked. */
    golden: goldenCountSchema.extend({ wrong: z.array(goldenMissSchema) }).nullable(),
  })
  .meta({ id: 'VerifyReply' });
export type VerifyReply = z.infer<typeof verifyReplySchema>;

export const diffQuerySchema = z.strictObject({ from: indexVersionIdField, to: indexVersionIdField });

const namedSchema = z.strictObject({ namespace: z.string(), capability: z.string() });

export const indexDiffSchema = z
  .strictObject({
    from: z.string(),
    to: z.string(),
    added: z.array(namedSchema),
    removed: z.array(namedSchema),
    changed: z.array(
      namedSchema.extend({
        texts: z.array(
          z.strictObject({
            list: z.enum(['descriptions', 'aliases', 'examples']),
            change: z.enum(['added', 'removed']),
            text: z.string(),
          }),
        ),
        /** What it became; null when it did not change. */
        sensitive: z.boolean().nullable(),
      }),
    ),
    vectors: z.strictObject({ from: z.int(), to: z.int() }),
  })
  .meta({ id: 'IndexDiff' });
export type IndexDiff = z.infer<typeof indexDiffSchema>;
