export type { CompiledRule } from './compiled-rule.ts';
export type { RuleWarning } from './rule-lint.ts';
export { MAX_RULES, type PutRuleResult, type RuleEdit, RuleService, type RuleServiceParts } from './rule-service.ts';
export { type RuleDecision, RuleSet } from './rule-set.ts';
export type { RuleSetVersion, RuleStore } from './rule-store.ts';
