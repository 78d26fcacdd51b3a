/**
 * What an operator should hear at an edit, though the rule is valid: rules that contradict each other, rules that can
 * never decide, patterns that take far too much. Answers for the edited rule against all others; never refuses.
 */
import type { z } from 'zod';
import type { ruleReplySchema } from '../contract/index.ts';
import { type CompiledRule, compareRules } from './compiled-rule.ts';
import { matchesContains, matchesPrefix, type PatternMatcher } from './rule-matcher.ts';

export type RuleWarning = z.infer<typeof ruleReplySchema>['warnings'][number];

/** Texts of fewer letters stand in very many intents; one Han character says about as much as two letters. */
const BROAD_LETTERS = 2;

/** Whether every text of pattern `later` is surely one of pattern `earlier` too. Unsure answers no. */
function takes(earlier: PatternMatcher, later: PatternMatcher): boolean {
  if (earlier.match === later.match && earlier.text === later.text) return true;
  if (later.match === 'regex') return false;
  switch (earlier.match) {
    case 'exact':
      return false;
    case 'prefix':
      return later.match !== 'contains' && matchesPrefix(later.text, earlier.text);
    case 'contains':
      return matchesContains(later.text, earlier.text);
    case 'regex':
      return later.match === 'exact' && earlier.matches(later.text);
  }
}

function speaksAllOf(earlier: CompiledRule, later: CompiledRule): boolean {
  const spoken = earlier.rule.languages;
  return spoken === undefined || (later.rule.languages?.every((language) => spoken.includes(language)) ?? false);
}

function shareLanguage(one: CompiledRule, other: CompiledRule): boolean {
  const spoken = one.rule.languages;
  const others = other.rule.languages;
  return spoken === undefined || others === undefined || spoken.some((language) => others.includes(language));
}

function hides(earlier: CompiledRule, later: CompiledRule): boolean {
  if (earlier.exceptions.length > 0 || !speaksAllOf(earlier, later)) return false;
  return later.patterns.every((pattern) => earlier.patterns.some((other) => takes(other, pattern)));
}

function hasSameOutcome(one: CompiledRule, other: CompiledRule): boolean {
  return one.capability === other.capability && one.rule.requireScope === other.rule.requireScope;
}

function sharedPattern(one: CompiledRule, other: CompiledRule): string | undefined {
  if (one.rule.match !== other.rule.match) return undefined;
  const texts = new Set(other.patterns.map((pattern) => pattern.text));
  return one.patterns.find((pattern) => texts.has(pattern.text))?.source;
}

function warningsAbout(edited: CompiledRule, other: CompiledRule): RuleWarning[] {
  const warnings: RuleWarning[] = [];
  const { id, priority } = edited.rule;
  const pattern = sharedPattern(edited, other);
  const isOutranked = other.rule.priority >= priority;
  if (pattern !== undefined && isOutranked && shareLanguage(edited, other) && !hasSameOutcome(edited, other)) {
    const outcome = other.capability ?? 'deny';
    const message = `${other.rule.id} (priority ${other.rule.priority}) answers ${JSON.stringify(pattern)} with ${outcome}`;
    warnings.push({ code: 'conflict', message, ruleId: other.rule.id });
  }
  const isEarlier = compareRules(other.rule, edited.rule) < 0;
  const [earlier, later] = isEarlier ? [other, edited] : [edited, other];
  if (hides(earlier, later)) {
    const message = isEarlier
      ? `${id} is never reached: ${other.rule.id} takes every text of it`
      : `${other.rule.id} is no longer reached: ${id} takes every text of it`;
    warnings.push({ code: 'unreachable', message, ruleId: other.rule.id });
  }
  return warnings;
}

function isBroad({ match, text, matches }: PatternMatcher): boolean {
  if (match === 'exact') return false;
  if (match === 'regex') return matches('');
  const letters = [...text];
  if (letters.length === 1) return true;
  return letters.length <= BROAD_LETTERS && letters.every((letter) => /[\p{L}\p{N}]/u.test(letter) && !isHan(letter));
}

const isHan = (letter: string): boolean => /\p{Script=Han}/u.test(letter);

export interface LintOptions {
  /** Whether an agent or the dictionary knows the capability; without it nothing is said of unknown ones. */
  readonly isKnown?: (capability: string) => boolean;
}

export function lintRule(
  edited: CompiledRule,
  others: Iterable<CompiledRule>,
  options: LintOptions = {},
): RuleWarning[] {
  const warnings: RuleWarning[] = [];
  const { capability } = edited;
  if (capability !== null && options.isKnown !== undefined && !options.isKnown(capability)) {
    warnings.push({ code: 'unknown_capability', message: `no agent is registered for ${capability}` });
  }
  for (const pattern of edited.patterns) {
    if (!isBroad(pattern)) continue;
    warnings.push({ code: 'very_broad', message: `${JSON.stringify(pattern.source)} is found in very many texts` });
  }
  for (const other of others) {
    if (other.rule.id !== edited.rule.id) warnings.push(...warningsAbout(edited, other));
  }
  return warnings;
}
