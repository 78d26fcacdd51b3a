/**
 * A rule ready to be held against texts. Immutable; compiling is the whole validation of a rule, so whatever holds a
 * `CompiledRule` needs no further check.
 */

import { parseCapabilityName } from '../capability/index.ts';
import type { Rule } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import { compilePattern, type PatternMatcher } from './rule-matcher.ts';
import type { RuleLanguage } from './rule-text.ts';

export interface CompiledRule {
  readonly rule: Rule;
  /** null: the rule denies. */
  readonly capability: CapabilityName | null;
  readonly patterns: readonly PatternMatcher[];
  /** Looked for anywhere in the text, whatever the kind of the rule; regexes in a regex rule. */
  readonly exceptions: readonly PatternMatcher[];
}

/** Errors: AR_ERR_INVALID_RULE (patterns[i], unless[i]), AR_ERR_INVALID_CAPABILITY. */
export function compileRule(rule: Rule): CompiledRule {
  const capability =
    rule.capability === undefined ? null : parseCapabilityName(rule.capability, { path: 'capability' });
  const exceptionKind = rule.match === 'regex' ? 'regex' : 'contains';
  return {
    rule,
    capability,
    patterns: rule.patterns.map((pattern, index) => compilePattern(rule.match, pattern, `patterns[${index}]`)),
    exceptions: (rule.unless ?? []).map((pattern, index) => compilePattern(exceptionKind, pattern, `unless[${index}]`)),
  };
}

export function speaks(compiled: CompiledRule, languages: ReadonlySet<RuleLanguage>): boolean {
  return compiled.rule.languages === undefined || compiled.rule.languages.some((language) => languages.has(language));
}

/** The first pattern found, as the rule wrote it. */
export function patternIn(compiled: CompiledRule, text: string): string | undefined {
  return compiled.patterns.find((pattern) => pattern.matches(text))?.source;
}

/** The first exception found, as the rule wrote it. */
export function exceptionIn(compiled: CompiledRule, text: string): string | undefined {
  return compiled.exceptions.find((exception) => exception.matches(text))?.source;
}

/** Higher priority first, then by id in code-unit order. */
export function compareRules(left: Rule, right: Rule): number {
  if (left.priority !== right.priority) return right.priority - left.priority;
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
