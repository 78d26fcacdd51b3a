export { type AuditEntry, AuditLog, type AuditLogParts, type AuditStore, type StoredAudit } from './audit-log.ts';
export type { CompiledRule } from './compiled-rule.ts';
export { type NegatedSpan, negatedSpans } from './negated-spans.ts';
export type { RuleWarning } from './rule-lint.ts';
export { mayReach, scopesFor } from './rule-scopes.ts';
export {
  MAX_REGEX_STEPS,
  type PutRuleResult,
  type RuleEdit,
  type RuleImportRequest,
  RuleService,
  type RuleServiceParts,
} from './rule-service.ts';
export { type RuleDecision, RuleSet } from './rule-set.ts';
export type { RuleEditRecord, RuleSetVersion, RuleStore } from './rule-store.ts';
