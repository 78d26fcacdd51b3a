/**
 * A rule ready to be held against texts. Immutable; compiling is the whole validation of a rule, so whatever holds a
 * `CompiledRule` needs no further check.
 */

import { parseCapabilityName } from '../capability/index.ts';
import type { Rule } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import { negationAt } from './negation.ts';
import { compilePattern, type PatternMatcher } from './rule-matcher.ts';
import type { RuleLanguage, TextSpan } from './rule-text.ts';

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

/** What a text is to a rule. `pattern` is the one found, or the first of those found where none counts. */
export type RuleFit =
  | { readonly kind: 'missing' }
  | { readonly kind: 'excepted'; readonly pattern: PatternMatcher; readonly exception: PatternMatcher }
  | { readonly kind: 'negated'; readonly pattern: PatternMatcher; readonly place: TextSpan; readonly by: string }
  | { readonly kind: 'fits'; readonly pattern: PatternMatcher };

const MISSING: RuleFit = { kind: 'missing' };

/** Whether the rule fires on the text, its languages apart. Never asks for places unless the rule minds negation. */
export function fitOf(compiled: CompiledRule, text: string): RuleFit {
  const found = compiled.patterns.find((pattern) => pattern.matches(text));
  if (found === undefined) return MISSING;
  const exception = compiled.exceptions.find((one) => one.matches(text));
  if (exception !== undefined) return { kind: 'excepted', pattern: found, exception };
  return compiled.rule.negation === 'except' ? affirmedFit(compiled, text) : { kind: 'fits', pattern: found };
}

/** One place that is not denied is enough: "delete it, don't archive it" asks to delete. */
function affirmedFit({ patterns }: CompiledRule, text: string): RuleFit {
  let denied: RuleFit = MISSING;
  for (const pattern of patterns) {
    for (const place of pattern.spans(text)) {
      const by = negationAt(text, place);
      if (by === undefined) return { kind: 'fits', pattern };
      if (denied.kind === 'missing') denied = { kind: 'negated', pattern, place, by };
    }
  }
  return denied;
}

/** Steps of all its regexes. */
export function regexSizeOf({ patterns, exceptions }: CompiledRule): number {
  return [...patterns, ...exceptions].reduce((total, { size }) => total + size, 0);
}

/** Higher priority first, then by id in code-unit order. */
export function compareRules(left: Rule, right: Rule): number {
  if (left.priority !== right.priority) return right.priority - left.priority;
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
