/** The change feed of the registry, as server-sent events. */
import { z } from 'zod';
import { agentStateSchema, stateReasonSchema } from './agent.ts';
import { namespaceField } from './fields.ts';

export const eventTypeSchema = z.enum([
  'agent.registered',
  'agent.updated',
  'agent.state_changed',
  'agent.withdrawn',
  'agent.evicted',
  'capability.proposed',
  'capability.updated',
]);
export type EventType = z.infer<typeof eventTypeSchema>;

const eventIdField = z.string().min(1).max(128).meta({ example: '7m3k0c9w-42-0' });

export const followEventsQuerySchema = z.strictObject({
  /** Comma-separated; default: all. */
  types: z
    .string()
    .max(512)
    .transform((text) => text.split(',').map((one) => one.trim()))
    .pipe(z.array(eventTypeSchema).min(1))
    .optional(),
  namespace: namespaceField.optional(),
  /** Id of the last event seen; the header `Last-Event-ID` goes before it. */
  since: eventIdField.optional(),
});
export type FollowEventsQuery = z.output<typeof followEventsQuerySchema>;

/** `data` of each event of the stream. */
export const feedEventSchema = z
  .strictObject({
    id: eventIdField,
    type: eventTypeSchema,
    at: z.string(),
    /** Of this instance's registry once the change was visible; what `waitIndex` is compared with. */
    epoch: z.int(),
    namespace: z.string(),
    agentId: z.string().nullable(),
    capability: z.string().optional(),
    incarnation: z.int().optional(),
    revision: z.int().optional(),
    from: agentStateSchema.optional(),
    to: agentStateSchema.optional(),
    why: stateReasonSchema.optional(),
  })
  .meta({ id: 'FeedEvent' });
export type FeedEvent = z.infer<typeof feedEventSchema>;

/** `data` of the first event, `ready`: everything after `id` comes; at a resume it is the id resumed from. */
export const feedReadySchema = z.strictObject({ id: eventIdField, epoch: z.int() });
export type FeedReady = z.infer<typeof feedReadySchema>;

/** `data` of `gap`: what lies after `after` up to `until` never comes; read the agents anew. */
export const feedGapSchema = z.strictObject({ after: eventIdField, until: eventIdField, missed: z.int() });
export type FeedGap = z.infer<typeof feedGapSchema>;
