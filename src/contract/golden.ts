/** The golden set: what people say, and the capability that must be meant by it, whatever the index version. */
import { z } from 'zod';
import { capabilityNameField, namespaceField, text } from './fields.ts';
import { MAX_INTENT_LENGTH } from './route.ts';

/** Each line is asked at each rebuild: 1,000 lines cost some seconds of the model. */
export const MAX_GOLDEN_LINES = 1_000;

export const goldenIdField = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { message: 'must be 1-64 of A-Z a-z 0-9 . _ -' })
  .meta({ example: 'weather-zh' });

export const goldenLineInputSchema = z
  .strictObject({
    /** Made from namespace and text when left out, so that a line sent twice stays one line. */
    id: goldenIdField.optional(),
    text: text(MAX_INTENT_LENGTH, 1),
    /** null: nothing must be answered. */
    capability: capabilityNameField.nullable(),
    namespace: namespaceField.default('default'),
  })
  .meta({ id: 'GoldenLineInput' });
export type GoldenLineInput = z.input<typeof goldenLineInputSchema>;

export const goldenLineSchema = goldenLineInputSchema
  .extend({ id: goldenIdField, namespace: namespaceField })
  .meta({ id: 'GoldenLine' });
export type GoldenLine = z.infer<typeof goldenLineSchema>;

export const goldenPutSchema = z
  .union([
    goldenLineInputSchema,
    z.strictObject({ lines: z.array(goldenLineInputSchema).min(1).max(MAX_GOLDEN_LINES) }),
  ])
  .meta({ id: 'GoldenPut' });

export const goldenListSchema = z.strictObject({ items: z.array(goldenLineSchema) }).meta({ id: 'GoldenList' });
export type GoldenList = z.infer<typeof goldenListSchema>;

export const goldenPutReplySchema = z
  .strictObject({ added: z.int(), updated: z.int(), items: z.array(goldenLineSchema) })
  .meta({ id: 'GoldenPutReply' });
export type GoldenPutReply = z.infer<typeof goldenPutReplySchema>;

/** What a golden line got instead of what it asks for. */
export const goldenMissSchema = z.strictObject({
  id: z.string(),
  text: z.string(),
  namespace: z.string(),
  expected: z.string().nullable(),
  answered: z.string().nullable(),
});
export type GoldenMiss = z.infer<typeof goldenMissSchema>;
