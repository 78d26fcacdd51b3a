/** One intent in, one decision out. */
import { z } from 'zod';
import { agentStateSchema, registryFlagsSchema, transportSchema } from './agent.ts';
import { agentIdField, capabilityNameField, namespaceField, tagsField, text, zoneField } from './fields.ts';
import { ruleTraceSchema } from './rule.ts';

export const MAX_INTENT_LENGTH = 2_000;
export const MAX_BATCH = 256;
/** Of one batch: an explained reply is a hundred times as large as a plain one. */
export const MAX_BATCH_EXPLAINS = 8;

export const strategySchema = z.enum(['best', 'capacity_first']);
export type Strategy = z.infer<typeof strategySchema>;

const routeFields = {
  intent: text(MAX_INTENT_LENGTH).optional().meta({ description: 'What is wanted, in Chinese or English words.' }),
  capability: capabilityNameField.optional().meta({ description: 'The exact name; no meaning is searched then.' }),
  namespace: namespaceField.default('default'),
  topK: z.int().min(1).max(50).optional().meta({ description: 'Answers wanted: the agent and its alternatives.' }),
  strategy: strategySchema.optional(),
  preferredAgentId: agentIdField.optional(),
  affinityKey: text(256, 1).optional(),
  zone: zoneField.optional(),
  tags: tagsField.optional(),
  exclude: z.array(agentIdField).max(256).optional(),
  minRelevance: z.number().min(0).max(1).optional(),
  priority: z
    .int()
    .min(0)
    .max(9)
    .default(5)
    .meta({ description: 'Carried for the dispatch of tasks; changes no route.' }),
  explain: z.boolean().default(false),
  probe: z.boolean().optional().meta({
    description:
      'Asked to measure, not to have work done: answered and audited like the others, but counted apart and no part of drift.',
  }),
};

const oneOf = (value: { intent?: string | undefined; capability?: string | undefined }): boolean =>
  (value.intent === undefined) !== (value.capability === undefined);
const ONE_OF_MESSAGE = { path: ['intent'], message: 'give either intent or capability' };

export const routeRequestSchema = z
  .strictObject(routeFields)
  .refine(oneOf, ONE_OF_MESSAGE)
  .meta({ id: 'RouteRequest', example: { intent: '明天杭州会下雨吗' } });
export type RouteRequest = z.infer<typeof routeRequestSchema>;

export const routeBatchRequestSchema = z
  .strictObject({ requests: z.array(routeRequestSchema).min(1).max(MAX_BATCH) })
  .meta({
    id: 'RouteBatchRequest',
    example: { requests: [{ intent: '明天杭州会下雨吗' }, { intent: 'send an email to my boss' }] },
  });

/** `multi_intent`: the request holds several, each decided by itself in `intents`. */
export const decisionSchema = z.enum(['route', 'queue', 'no_match', 'multi_intent']);
export type Decision = z.infer<typeof decisionSchema>;
/** What becomes of one intent. */
export const singleDecisionSchema = decisionSchema.exclude(['multi_intent']);
export type SingleDecision = z.infer<typeof singleDecisionSchema>;

export const matchedBySchema = z.enum(['rule', 'exact', 'semantic', 'lexical']);
export type MatchedBy = z.infer<typeof matchedBySchema>;

/**
 * Why a decision is not plain: `below_min_relevance`, `negated` (the request asks not to do what it comes near),
 * `nothing_registered`, `sensitive_requires_rule`, `denied_by_rule`, `scope_required`, `unknown_capability`, `no_agent_available`, `all_agents_full`,
 * `all_agents_overloaded`.
 */
export const reasonSchema = z.enum([
  'below_min_relevance',
  'negated',
  'nothing_registered',
  'sensitive_requires_rule',
  'denied_by_rule',
  'scope_required',
  'unknown_capability',
  'no_agent_available',
  'all_agents_full',
  'all_agents_overloaded',
]);
export type DecisionReason = z.infer<typeof reasonSchema>;

export const cacheOutcomeSchema = z.enum(['hit', 'miss', 'coalesced', 'bypass']);
export type CacheOutcome = z.infer<typeof cacheOutcomeSchema>;

export const routedAgentSchema = z.strictObject({
  agentId: z.string(),
  agentName: z.string(),
  version: z.string(),
  transport: transportSchema,
  state: agentStateSchema,
});

export const alternativeSchema = z.strictObject({
  capability: z.string(),
  /** null where no agent of this capability could take the work. */
  agentId: z.string().nullable(),
  relevance: z.number(),
  score: z.number().nullable(),
});

/** One of several intents of a request, decided as a request of its own would be. */
export const routedIntentSchema = z.strictObject({
  /** Its words, in canonical form. */
  text: z.string(),
  decision: singleDecisionSchema,
  reason: reasonSchema.nullable(),
  capability: z.string().nullable(),
  agent: routedAgentSchema.nullable(),
  relevance: z.number().nullable(),
  score: z.number().nullable(),
  ambiguous: z.boolean(),
  retryAfterMs: z.int().optional(),
});
export type RoutedIntent = z.infer<typeof routedIntentSchema>;

/** Each factor 0..1, as it went into the score. */
export const factorsSchema = z.record(z.string(), z.number());

export const explainSchema = z.strictObject({
  canonicalText: z.string().nullable(),
  /** Absent where the text was taken as it stands. */
  reading: z
    .strictObject({
      /** The text without what it asks not to be done. */
      asked: z.string(),
      /** What is not to be done, and the capabilities left out for it. */
      denied: z.array(z.strictObject({ text: z.string(), capabilities: z.array(z.string()) })),
      /** The intents that it was split into; empty: it is one. */
      parts: z.array(z.strictObject({ text: z.string(), capability: z.string(), relevance: z.number() })),
    })
    .optional(),
  rules: z.array(ruleTraceSchema),
  /** What the best had to reach: the request's, else the configured one, else what its phrases taught. */
  minRelevance: z.number().optional(),
  /** The capabilities found, best first, whether or not they passed the gate. */
  recall: z.array(
    z.strictObject({
      capability: z.string(),
      relevance: z.number(),
      similarity: z.number().nullable(),
      lexical: z.number().nullable(),
      /** The registered text that lay nearest. */
      nearestText: z.string().nullable(),
      gate: z.enum(['passed', 'below_min_relevance', 'outside_gate', 'sensitive']),
    }),
  ),
  weights: z.record(z.string(), z.number()),
  candidates: z.array(
    z.strictObject({
      capability: z.string(),
      agentId: z.string(),
      relevance: z.number(),
      score: z.number(),
      parts: z.array(
        z.strictObject({
          factor: z.string(),
          value: z.number(),
          weight: z.number(),
          part: z.number(),
          note: z.string(),
        }),
      ),
      /** What the sum of the parts was multiplied by, and why; absent: 1. */
      agentWeight: z.strictObject({ value: z.number(), note: z.string() }).optional(),
    }),
  ),
  dropped: z.array(z.strictObject({ agentId: z.string(), capability: z.string(), reason: z.string() })),
  strategiesVersion: z.string(),
  /** Whose strategies and weights decided: `default`, a capability, or a pattern such as `weather.*`. */
  policy: z.string(),
  /** Each step that had an opinion: why, how many candidates stayed, and whom it dropped. */
  strategies: z.array(
    z.strictObject({ name: z.string(), note: z.string(), kept: z.int(), dropped: z.array(z.string()) }),
  ),
});
export type Explain = z.infer<typeof explainSchema>;

export const routeReplySchema = z
  .strictObject({
    requestId: z.string(),
    decision: decisionSchema,
    reason: reasonSchema.nullable(),
    capability: z.string().nullable(),
    agent: routedAgentSchema.nullable(),
    relevance: z.number().nullable(),
    score: z.number().nullable(),
    factors: factorsSchema.nullable(),
    matchedBy: matchedBySchema.nullable(),
    ruleId: z.string().optional(),
    ambiguous: z.boolean(),
    alternatives: z.array(alternativeSchema),
    intents: z
      .array(routedIntentSchema)
      .optional()
      .meta({
        description:
          'With `multi_intent` only: what the request asks for, in its order, each with its own decision and agent. ' +
          '`capability` and `agent` of the reply are null then, `relevance` is the least of them.',
      }),
    retryAfterMs: z.int().optional(),
    degraded: z.boolean(),
    degradedReason: z.string().optional(),
    panic: z
      .literal(true)
      .optional()
      .meta({ description: 'Fewer than half of the agents of this capability are well: doubted ones take work too.' }),
    registry: registryFlagsSchema.optional(),
    stale: z
      .literal(true)
      .optional()
      .meta({ description: 'The store that instances share is not heard: decided on what was known `staleMs` ago.' }),
    staleMs: z.int().optional(),
    indexVersion: z.string(),
    strategiesVersion: z.string(),
    registryEpoch: z.int(),
    cache: cacheOutcomeSchema,
    timings: z.record(z.string(), z.number()).meta({ description: 'Milliseconds by stage, and `total`.' }),
    explain: explainSchema.optional(),
  })
  .meta({ id: 'RouteReply' });
export type RouteReply = z.infer<typeof routeReplySchema>;

export const routeBatchReplySchema = z
  .strictObject({ requestId: z.string(), results: z.array(routeReplySchema) })
  .meta({ id: 'RouteBatchReply' });
export type RouteBatchReply = z.infer<typeof routeBatchReplySchema>;
