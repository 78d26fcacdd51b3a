/** Strategies: how one of several fitting agents is picked, for all capabilities or for some; read hot. */
import { z } from 'zod';

/** An override costs memory, not time: it is found by its name. */
export const MAX_STRATEGY_OVERRIDES = 1_000;
/** More steps than there are strategies would name one twice. */
const MAX_STEPS = 16;

/** A strategy by its name alone, or `{name, ...parameters}`; which parameters there are, its row in the catalogue says. */
export const strategyStepSchema = z
  .union([z.string(), z.looseObject({ name: z.string() })], {
    error: 'must be the name of a strategy, or {name, ...parameters}',
  })
  .meta({ id: 'StrategyStep' });

const policyFields = {
  strategies: z.array(strategyStepSchema).max(MAX_STEPS).meta({
    description: 'Tried in this order; a draw (best, capacity_first) comes last, `best` unless one is named.',
  }),
  weights: z
    .record(z.string(), z.number().min(0).max(1))
    .meta({ description: 'Weight of each factor of the score; they sum to 1, factors that are not named weigh 0.' }),
  latencyBudgetMs: z.int().min(1).max(2_147_483_647).meta({ description: 'Answer time that counts as the worst.' }),
  queueLoad: z.number().min(0).max(1).meta({ description: 'All candidates above this load: decision `queue`.' }),
  manyCandidates: z.int().min(1).max(100_000).meta({ description: 'More candidates: one of the least loaded.' }),
  leastLoaded: z.int().min(1).max(1_000).meta({ description: 'How many least loaded agents that draw is among.' }),
};

export const strategyPolicySchema = z
  .strictObject(policyFields)
  .partial()
  .meta({ id: 'StrategyPolicy', description: 'What is left out comes from the next less specific entry.' });
export type StrategyPolicy = z.infer<typeof strategyPolicySchema>;

export const strategiesDocumentSchema = z
  .strictObject({
    default: strategyPolicySchema.optional(),
    /** By name, `domain.action.*` or `domain.*`; of several that fit, the most specific wins, field by field. */
    capabilities: z.record(z.string(), strategyPolicySchema).optional(),
  })
  .meta({
    id: 'StrategiesDocument',
    example: {
      default: { strategies: ['failure_domain', { name: 'affinity', maxLoad: 0.8 }, 'best'] },
      capabilities: { 'weather.*': { weights: { relevance: 0.4, load: 0.4, latency: 0.2 } } },
    },
  });
export type StrategiesDocument = z.infer<typeof strategiesDocumentSchema>;

/** As an address takes it: every flaw is told by the service's own reader, with its place. */
export const strategiesBodySchema = z
  .record(z.string(), z.unknown())
  .meta({ id: 'StrategiesBody', description: 'A StrategiesDocument.' });

export const strategyWarningSchema = z.strictObject({ path: z.string(), message: z.string() });
export type StrategyWarning = z.infer<typeof strategyWarningSchema>;

/** With every field, as it is in force. */
const effectivePolicySchema = z.strictObject({
  ...policyFields,
  strategies: z.array(z.looseObject({ name: z.string() })),
});
export type EffectivePolicy = z.infer<typeof effectivePolicySchema>;

export const strategySourceSchema = z.enum(['config', 'file', 'api']);
export type StrategySource = z.infer<typeof strategySourceSchema>;

export const strategiesReplySchema = z
  .strictObject({
    strategiesVersion: z.string(),
    source: strategySourceSchema,
    /** As given; null where the config alone decides. */
    document: strategiesDocumentSchema.nullable(),
    warnings: z.array(strategyWarningSchema),
    effective: z.strictObject({
      default: effectivePolicySchema,
      capabilities: z.record(z.string(), effectivePolicySchema),
    }),
    /** null where no file is configured. */
    file: z
      .strictObject({
        path: z.string(),
        /** Of what the file held when it last could be used; null where it never could. */
        strategiesVersion: z.string().nullable(),
        /** Why the file as it is now cannot be used. */
        problem: z.string().nullable(),
      })
      .nullable(),
    /** What was put over the API and goes before the file; null where nothing was. */
    api: z
      .strictObject({
        setBy: z.string(),
        setAt: z.string(),
        /** Why it is not in force although it is stored. */
        problem: z.string().nullable(),
      })
      .nullable(),
    /** Every strategy that a document may name. */
    catalogue: z.array(
      z.strictObject({
        name: z.string(),
        kind: z.enum(['narrow', 'draw']),
        about: z.string(),
        parameters: z.record(z.string(), z.string()),
      }),
    ),
  })
  .meta({ id: 'StrategiesReply' });
export type StrategiesReply = z.infer<typeof strategiesReplySchema>;

export const reloadResultSchema = z.enum(['applied', 'unchanged', 'shadowed']);
export type ReloadResult = z.infer<typeof reloadResultSchema>;

/** `shadowed`: the file is sound and taken, but what was put over the API goes before it. */
export const strategiesReloadReplySchema = strategiesReplySchema
  .extend({ result: reloadResultSchema })
  .meta({ id: 'StrategiesReloadReply' });
export type StrategiesReloadReply = z.infer<typeof strategiesReloadReplySchema>;
