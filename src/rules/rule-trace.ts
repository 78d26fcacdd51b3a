/** What became of one rule at one text, and why: for the dry run and for `explain`, built on demand only. */
import type { RuleTrace } from '../contract/index.ts';
import { type CompiledRule, fitOf, speaks } from './compiled-rule.ts';
import type { PatternMatcher } from './rule-matcher.ts';
import type { RuleLanguage, TextSpan } from './rule-text.ts';

export type { RuleTrace };

export interface TraceContext {
  readonly languages: ReadonlySet<RuleLanguage>;
  /** An earlier rule decided already. */
  readonly isDecided: boolean;
}

/** `text` as `ruleText` answers it: places are the same in the canonical text. */
export function traceOf(compiled: CompiledRule, text: string, { languages, isDecided }: TraceContext): RuleTrace {
  const { id, match, priority } = compiled.rule;
  const base = { id, priority };
  if (!speaks(compiled, languages)) {
    const spoken = [...languages].join(' and ') || 'neither zh nor en';
    const detail = `for ${compiled.rule.languages?.join(', ')}; the text is ${spoken}`;
    return { ...base, outcome: 'other_language', detail };
  }
  const fit = fitOf(compiled, text);
  switch (fit.kind) {
    case 'missing':
      return { ...base, outcome: 'no_match', detail: `no ${match} pattern is found` };
    case 'excepted': {
      const exception = foundAt(fit.exception, text);
      const detail = `${patternText(fit.pattern)}, but unless ${JSON.stringify(fit.exception.source)}`;
      return { ...base, outcome: 'excepted_by_unless', detail, found: foundAt(fit.pattern, text), exception };
    }
    case 'negated': {
      const detail = `${patternText(fit.pattern)}, but negated by ${JSON.stringify(fit.by)}`;
      const found = placed(fit.pattern, text, fit.place);
      return { ...base, outcome: 'excepted_by_negation', detail, found, negatedBy: fit.by };
    }
    case 'fits':
      return { ...base, ...fittingTrace(compiled, fit.pattern, isDecided), found: foundAt(fit.pattern, text) };
    default:
      return fit satisfies never;
  }
}

function fittingTrace(compiled: CompiledRule, pattern: PatternMatcher, isDecided: boolean) {
  const found = patternText(pattern);
  const scope = compiled.rule.requireScope;
  const asked = scope === undefined ? {} : { requireScope: scope };
  if (isDecided) return { outcome: 'would_match' as const, detail: `${found}; an earlier rule decided`, ...asked };
  const needs = scope === undefined ? '' : ` for scope ${scope}`;
  return { outcome: 'decided' as const, detail: `${found} -> ${compiled.capability ?? 'deny'}${needs}`, ...asked };
}

const patternText = ({ match, source }: PatternMatcher): string => `${match} ${JSON.stringify(source)}`;

function foundAt(pattern: PatternMatcher, text: string): RuleTrace['found'] {
  return placed(pattern, text, pattern.spans(text)[0] ?? { start: 0, end: 0 });
}

function placed(pattern: PatternMatcher, text: string, { start, end }: TextSpan): NonNullable<RuleTrace['found']> {
  return { pattern: pattern.source, start, end, text: text.slice(start, end) };
}
