/** Exact rules: an intent that matches is decided by the rule alone. */
import { z } from 'zod';
import { capabilityNameField, label, namespaceField, text } from './fields.ts';

export const ruleMatchSchema = z.enum(['exact', 'prefix', 'contains', 'regex']);
export type RuleMatch = z.infer<typeof ruleMatchSchema>;

export const ruleLanguageSchema = z.enum(['zh', 'en']);

export const ruleIdField = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { message: 'must be 1-64 of A-Z a-z 0-9 . _ -' });

/** Addresses under /v1/rules that are no rules: a rule of such a name could not be read. */
export const RESERVED_RULE_IDS: readonly string[] = ['history', 'export', 'lint'];
/** Each edit stores the whole set: this bounds what one edit writes. */
export const MAX_RULES = 10_000;
/** Of a whole set as JSON: a hundred of them are kept, and an edit writes one. */
export const MAX_RULE_SET_BYTES = 4 * 1024 * 1024;

export const ruleSchema = z
  .strictObject({
    id: ruleIdField,
    /** Higher is tried first; equal priorities by id. */
    priority: z.int().min(-1_000_000).max(1_000_000).default(0),
    match: ruleMatchSchema,
    patterns: z.array(text(512, 1)).min(1).max(64),
    /** Where one of these is found too (same match kind), the rule does not fire: negations, exceptions. */
    unless: z.array(text(512, 1)).max(64).optional(),
    /** `except`: a pattern counts only where its clause does not deny it, in Chinese and English. */
    negation: z.enum(['ignore', 'except']).optional(),
    capability: capabilityNameField.optional(),
    deny: z.boolean().optional(),
    requireScope: label(64).optional(),
    /** Fires on intents in these languages only; default: any. */
    languages: z.array(ruleLanguageSchema).min(1).optional(),
    description: text(500).optional(),
  })
  .refine((rule) => (rule.capability === undefined) !== (rule.deny !== true), {
    path: ['capability'],
    message: 'give either capability or deny: true',
  })
  .meta({
    id: 'Rule',
    example: {
      id: 'invoice',
      priority: 10,
      match: 'contains',
      patterns: ['开发票', 'issue an invoice'],
      unless: ['不要开发票'],
      capability: 'finance.issue.invoice',
    },
  });
export type Rule = z.infer<typeof ruleSchema>;

export const ruleWarningSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  ruleId: z.string().optional(),
});
export type RuleWarning = z.infer<typeof ruleWarningSchema>;

export const ruleReplySchema = z
  .strictObject({ rule: ruleSchema, rulesVersion: z.int(), warnings: z.array(ruleWarningSchema) })
  .meta({ id: 'RuleReply' });
export type RuleReply = z.infer<typeof ruleReplySchema>;

export const ruleListSchema = z
  .strictObject({ rulesVersion: z.int(), items: z.array(ruleSchema) })
  .meta({ id: 'RuleList' });
export type RuleList = z.infer<typeof ruleListSchema>;

/** A warning about rule `id`; `ruleId` is the other rule. */
const ruleFindingSchema = z.strictObject({ id: z.string(), ...ruleWarningSchema.shape });
export type RuleFinding = z.infer<typeof ruleFindingSchema>;

export const ruleLintSchema = z
  .strictObject({
    rulesVersion: z.int(),
    rules: z.int(),
    /** Steps of all compiled regexes, and the most that a set may have. */
    regexSteps: z.int(),
    maxRegexSteps: z.int(),
    items: z.array(ruleFindingSchema),
  })
  .meta({ id: 'RuleLint' });
export type RuleLint = z.infer<typeof ruleLintSchema>;

export const ruleImportRequestSchema = z
  .strictObject({
    yaml: text(16_000_000, 1).optional().meta({ description: 'A rule file as the export writes it.' }),
    rules: z.array(z.unknown()).max(MAX_RULES).optional().meta({ description: 'The rules themselves.' }),
    mode: z.enum(['merge', 'replace']).default('merge').meta({
      description: 'merge keeps rules that the import does not name; replace deletes them.',
    }),
    dryRun: z.boolean().default(false),
  })
  .refine((value) => (value.yaml === undefined) !== (value.rules === undefined), {
    path: ['yaml'],
    message: 'give either yaml or rules',
  })
  .meta({ id: 'RuleImport' });
export type RuleImport = z.infer<typeof ruleImportRequestSchema>;

/** What an import did, or would do where `applied` is false. Ids in the order of the import. */
export const ruleImportReplySchema = z
  .strictObject({
    rulesVersion: z.int(),
    applied: z.boolean(),
    created: z.array(z.string()),
    replaced: z.array(z.string()),
    removed: z.array(z.string()),
    unchanged: z.int(),
    warnings: z.array(ruleFindingSchema),
  })
  .meta({ id: 'RuleImportReply' });
export type RuleImportReply = z.infer<typeof ruleImportReplySchema>;

export const ruleRollbackRequestSchema = z.strictObject({ version: z.int().min(1) }).meta({ id: 'RuleRollback' });
export const ruleRollbackReplySchema = z
  .strictObject({ rulesVersion: z.int(), rules: z.int() })
  .meta({ id: 'RuleRollbackReply' });
export type RuleRollbackReply = z.infer<typeof ruleRollbackReplySchema>;

/** Past edits, newest first. */
export const ruleHistorySchema = z
  .strictObject({
    rulesVersion: z.int(),
    items: z.array(
      z.strictObject({
        version: z.int(),
        editedAt: z.string(),
        editedBy: z.string(),
        change: z.string(),
        /** How many rules the set held after this edit. */
        rules: z.int(),
      }),
    ),
  })
  .meta({ id: 'RuleHistory' });
export type RuleHistory = z.infer<typeof ruleHistorySchema>;

/** Where a pattern stands in the canonical text, in UTF-16 units. */
const foundSchema = z.strictObject({ pattern: z.string(), start: z.int(), end: z.int(), text: z.string() });

/** What became of one rule at one text. */
export const ruleTraceSchema = z.strictObject({
  id: z.string(),
  outcome: z.enum([
    'decided',
    'would_match',
    'no_match',
    'excepted_by_unless',
    'excepted_by_negation',
    'other_language',
  ]),
  detail: z.string(),
  priority: z.int().optional(),
  found: foundSchema.optional(),
  exception: foundSchema.optional(),
  /** The words that deny what was found. */
  negatedBy: z.string().optional(),
  requireScope: z.string().optional(),
});
export type RuleTrace = z.infer<typeof ruleTraceSchema>;

export const dryRunRequestSchema = z
  .strictObject({ intent: text(2_000), namespace: namespaceField.default('default') })
  .meta({ id: 'RuleDryRun', example: { intent: '我需要开发票' } });

export const dryRunReplySchema = z
  .strictObject({
    rulesVersion: z.int(),
    canonicalText: z.string(),
    decidedBy: z.string().nullable(),
    capability: z.string().nullable(),
    deny: z.boolean(),
    namespace: z.string(),
    /** Whether an agent of the namespace has the capability; null where no rule named one. */
    registered: z.boolean().nullable(),
    sensitive: z.boolean().nullable(),
    /** Any of these lets a caller through, as does `*`; empty: everybody may. */
    scopes: z.array(z.string()),
    /** Every rule in the order tried, with what became of it. */
    rules: z.array(ruleTraceSchema),
  })
  .meta({ id: 'RuleDryRunReply' });
export type DryRunReply = z.infer<typeof dryRunReplySchema>;
