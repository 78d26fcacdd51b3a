/** How well a set of labelled texts is routed: the lines given, and the report of `agent-reach eval`. */
import { z } from 'zod';
import { namespaceField, text } from './fields.ts';
import { MAX_INTENT_LENGTH } from './route.ts';

/** One line of a data file; other fields are passed over. */
export const evaluationLineSchema = z.object({
  text: text(MAX_INTENT_LENGTH, 1),
  /** What is meant; null: nothing that is registered. */
  capability: z.string().min(1).max(256).nullable(),
  /** Default: told from the script. */
  lang: z.string().min(1).max(32).optional(),
  namespace: namespaceField.optional(),
});
export type EvaluationLine = z.infer<typeof evaluationLineSchema>;

const share = z.number().nullable();

/** Shares are 0..1; null where there is nothing to count. */
export const evaluationScoresSchema = z.strictObject({
  lines: z.int(),
  inScope: z.int(),
  outOfScope: z.int(),
  /** In-scope lines whose capability is ranked first, whatever its relevance. */
  hitAt1: share,
  hitAt5: share,
  /** Mean of 1 / rank over in-scope lines; 0 beyond rank 10. */
  mrr: share,
  /** In-scope lines that were answered with their capability. */
  answeredRight: share,
  /** Of the lines answered no_match, those that are out of scope. */
  noMatchPrecision: share,
  /** Of the out-of-scope lines, those answered no_match. */
  noMatchRecall: share,
  /** Chance that an in-scope line has a higher relevance than an out-of-scope one. */
  auroc: share,
  /** Mean gap between relevance and how often it was right, ten bins, weighed by their lines. */
  calibrationError: share,
});
export type EvaluationScores = z.infer<typeof evaluationScoresSchema>;

export const reliabilityBinSchema = z.strictObject({
  from: z.number(),
  to: z.number(),
  lines: z.int(),
  meanRelevance: share,
  shareRight: share,
});
export type ReliabilityBin = z.infer<typeof reliabilityBinSchema>;

export const capabilityScoreSchema = z.strictObject({
  capability: z.string(),
  lines: z.int(),
  hitAt1: z.number(),
  hitAt5: z.number(),
  answeredRight: z.number(),
  /** Lines of others, or of nobody, that were answered with it. */
  taken: z.int(),
});
export type CapabilityScore = z.infer<typeof capabilityScoreSchema>;

export const nearDuplicateSchema = z.strictObject({
  namespace: z.string(),
  capability: z.string(),
  other: z.string(),
  similarity: z.number(),
  text: z.string(),
  otherText: z.string(),
});
export type NearDuplicate = z.infer<typeof nearDuplicateSchema>;

export const evaluationReportSchema = z.strictObject({
  source: z.strictObject({
    kind: z.enum(['service', 'registry']),
    place: z.string(),
    capabilities: z.int(),
    indexVersion: z.string(),
    degraded: z.boolean(),
  }),
  scores: evaluationScoresSchema,
  languages: z.array(evaluationScoresSchema.extend({ language: z.string() })),
  reliability: z.array(reliabilityBinSchema),
  /** Lines by relevance in tenths. */
  relevance: z.strictObject({ inScope: z.array(z.int()), outOfScope: z.array(z.int()) }),
  /** Worst first. */
  capabilities: z.array(capabilityScoreSchema),
  /** Most frequent first; `answered` null: no_match. */
  confusions: z.array(
    z.strictObject({
      expected: z.string().nullable(),
      answered: z.string().nullable(),
      lines: z.int(),
      text: z.string(),
      relevance: z.number().nullable(),
      /** The registered text of the ranked first that lay nearest to `text`. */
      nearestPhrase: z.string().nullable(),
    }),
  ),
  nearDuplicates: z.array(nearDuplicateSchema),
  /** Found first by none of their own texts. */
  unreachable: z.array(z.strictObject({ capability: z.string(), namespace: z.string(), foundInstead: z.string() })),
  /** Named by the data and not registered: their lines count as missed. */
  unknownCapabilities: z.array(
    z.strictObject({ capability: z.string(), lines: z.int(), suggestions: z.array(z.string()) }),
  ),
  /** Of routes sent one after another. */
  latencyMs: z.strictObject({ samples: z.int(), p50: z.number(), p99: z.number() }).nullable(),
});
export type EvaluationReport = z.infer<typeof evaluationReportSchema>;

export const lintFindingSchema = z.strictObject({
  level: z.enum(['error', 'warning']),
  code: z.enum([
    'invalid_registration',
    'invalid_name',
    'alias_claims_name',
    'shared_alias',
    'duplicate_example',
    'near_duplicate_text',
    'near_duplicate_name',
    'missing_description',
    'missing_examples',
    'unreachable',
    'sensitive_without_rule',
  ]),
  namespace: z.string(),
  capability: z.string().nullable(),
  message: z.string(),
});
export type LintFinding = z.infer<typeof lintFindingSchema>;
