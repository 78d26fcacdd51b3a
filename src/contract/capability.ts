/** What an agent says of one thing it can do, and what the dictionary answers about a name. */
import { z } from 'zod';
import { capabilityNameField, cursorField, label, namespaceField, pageLimitField, text } from './fields.ts';

export const MAX_EXAMPLE_LENGTH = 500;
/** Each is embedded and searched: more would crowd the other capabilities out of the nearest texts. */
export const MAX_OPERATOR_EXAMPLES = 64;
const exampleField = text(MAX_EXAMPLE_LENGTH, 1);

export const capabilityObjectSchema = z
  .strictObject({
    name: capabilityNameField,
    description: text(2_000).optional(),
    examples: z.array(exampleField).max(32).optional(),
    aliases: z.array(label(128)).max(32).optional(),
    sensitive: z.boolean().optional(),
    inputSchema: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
    timeoutMs: z.int().min(1).max(3_600_000).optional(),
    idempotent: z.boolean().optional(),
  })
  .meta({
    id: 'Capability',
    example: {
      name: 'weather.query.city',
      description: 'Weather forecast for a city',
      examples: ['明天杭州会下雨吗', 'will it rain tomorrow'],
    },
  });
export type CapabilityObject = z.infer<typeof capabilityObjectSchema>;

/** A bare name, or the name with what helps to find it. */
export const capabilitySchema = z.union([capabilityNameField, capabilityObjectSchema]);
export type CapabilityInput = z.infer<typeof capabilitySchema>;

export const dictionaryStatusSchema = z.enum(['active', 'proposed', 'deprecated']);

export const capabilityViewSchema = z
  .strictObject({
    name: z.string(),
    namespace: z.string(),
    status: dictionaryStatusSchema,
    /** The name to use instead of a deprecated one. */
    replacedBy: z.string().nullable(),
    firstOwner: z.string().nullable(),
    sensitive: z.boolean(),
    descriptions: z.array(z.string()),
    aliases: z.array(z.string()),
    examples: z.array(z.string()),
    /** Those of `examples` that an operator gave or approved. */
    operatorExamples: z.array(z.string()),
    /** Rises with each word of an operator. */
    revision: z.int(),
    /** Registered agents, whatever their state. */
    agents: z.int(),
    /** Agents that could be routed to now. */
    routableAgents: z.int(),
    firstSeenAt: z.string(),
  })
  .meta({ id: 'CapabilityEntry' });
export type CapabilityView = z.infer<typeof capabilityViewSchema>;

export const listCapabilitiesQuerySchema = z.strictObject({
  namespace: namespaceField.optional(),
  domain: z.string().max(63).optional(),
  status: dictionaryStatusSchema.optional(),
  limit: pageLimitField,
  cursor: cursorField.optional(),
});

export type ListCapabilitiesQuery = z.infer<typeof listCapabilitiesQuerySchema>;

export const capabilityPageSchema = z
  .strictObject({ items: z.array(capabilityViewSchema), nextCursor: z.string().nullable() })
  .meta({ id: 'CapabilityPage' });
export type CapabilityPage = z.infer<typeof capabilityPageSchema>;

/** An operator's word on a name: approve a proposed one, deprecate, clear `sensitive`, describe it. */
export const capabilityUpdateSchema = z
  .strictObject({
    status: dictionaryStatusSchema.optional(),
    replacedBy: capabilityNameField.nullable().optional(),
    sensitive: z.boolean().optional(),
    description: text(2_000).optional(),
    /** In place of the examples that operators gave before; those of agents stay. */
    examples: z.array(exampleField).max(MAX_OPERATOR_EXAMPLES).optional(),
  })
  .meta({ id: 'CapabilityUpdate', example: { status: 'active' } });
export type CapabilityUpdate = z.infer<typeof capabilityUpdateSchema>;
