/**
 * What `lintRule` would say of each rule of a whole set, each pair once: a rule is held only against earlier rules whose
 * patterns its own first patterns hit, found by look-up, so that ten thousand rules take a moment and not an hour.
 */
import type { RuleFinding } from '../contract/index.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { PatternIndex } from './pattern-index.ts';
import { type LintOptions, lintRule } from './rule-lint.ts';

/** More findings than anybody reads. */
const MAX_FINDINGS = 1_000;

/** `rules` in the order tried. */
export function lintSet(rules: readonly CompiledRule[], options: LintOptions = {}): RuleFinding[] {
  const index = new PatternIndex(rules);
  const regexes = [...rules.keys()].filter((position) => rules[position]?.rule.match === 'regex');
  const findings: RuleFinding[] = [];
  for (const [position, edited] of rules.entries()) {
    const others = earlierCandidates(edited, position, { rules, index, regexes });
    for (const warning of lintRule(edited, others, options)) findings.push({ id: edited.rule.id, ...warning });
    if (findings.length >= MAX_FINDINGS) return findings.slice(0, MAX_FINDINGS);
  }
  return findings;
}

interface Sources {
  readonly rules: readonly CompiledRule[];
  readonly index: PatternIndex;
  readonly regexes: readonly number[];
}

/** Whoever conflicts with a rule or takes all its texts holds, or takes, one of its patterns. */
function earlierCandidates(edited: CompiledRule, position: number, { rules, index, regexes }: Sources): CompiledRule[] {
  const near = new Set<number>(edited.rule.match === 'regex' || edited.rule.match === 'exact' ? regexes : []);
  for (const pattern of edited.patterns) {
    if (pattern.match !== 'regex') for (const found of index.find(pattern.text)) near.add(found);
  }
  return [...near].sort((a, b) => a - b).flatMap((at) => (at < position ? (rules[at] ?? []) : []));
}
