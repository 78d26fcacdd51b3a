/** A caller's word on what an intent really meant, and what an operator made of it. */
import { z } from 'zod';
import { capabilityNameField, cursorField, namespaceField, pageLimitField, text } from './fields.ts';
import { MAX_INTENT_LENGTH } from './route.ts';

export const feedbackStatusSchema = z.enum(['pending', 'approved', 'rejected']);
export type FeedbackStatus = z.infer<typeof feedbackStatusSchema>;

export const feedbackReportSchema = z
  .strictObject({
    requestId: z
      .string()
      .min(1)
      .max(80)
      .optional()
      .meta({ description: 'Of the route: enough alone for an hour, from the key that asked.' }),
    intent: text(MAX_INTENT_LENGTH, 1).optional(),
    correct: capabilityNameField
      .nullable()
      .meta({ description: 'What was meant; null: nothing that is registered.', example: 'weather.query.city' }),
    namespace: namespaceField.optional().meta({ description: 'Default: that of the route, else "default".' }),
  })
  .refine((value) => value.requestId !== undefined || value.intent !== undefined, {
    path: ['intent'],
    message: 'give the intent, or the requestId of its route',
  })
  .meta({ id: 'FeedbackReport', example: { intent: '外面要带伞吗', correct: 'weather.query.city' } });
export type FeedbackReport = z.infer<typeof feedbackReportSchema>;

export const feedbackSchema = z
  .strictObject({
    id: z.string(),
    status: feedbackStatusSchema,
    namespace: z.string(),
    intent: z.string(),
    correct: z.string().nullable(),
    /** What the route answered, where it is still remembered. */
    answered: z.string().nullable(),
    requestId: z.string().nullable(),
    /** How often the same word was sent. */
    reports: z.int(),
    createdAt: z.string(),
    createdBy: z.string(),
    decidedAt: z.string().nullable(),
    decidedBy: z.string().nullable(),
    /** What the approval changed: `none` where nothing registered was meant. */
    effect: z.enum(['example_added', 'already_known', 'none']).nullable(),
  })
  .meta({ id: 'Feedback' });
export type Feedback = z.infer<typeof feedbackSchema>;

export const listFeedbackQuerySchema = z.strictObject({
  status: feedbackStatusSchema.optional(),
  namespace: namespaceField.optional(),
  limit: pageLimitField,
  cursor: cursorField.optional(),
});
export type FeedbackQuery = z.infer<typeof listFeedbackQuerySchema>;

export const feedbackPageSchema = z
  .strictObject({ items: z.array(feedbackSchema), nextCursor: z.string().nullable(), pending: z.int() })
  .meta({ id: 'FeedbackPage' });
export type FeedbackPage = z.infer<typeof feedbackPageSchema>;

export const feedbackIdField = z
  .string()
  .regex(/^fb_\d{1,12}$/, { message: 'must be a feedback id, for example fb_12' })
  .meta({ example: 'fb_12' });
