/**
 * One pattern against one canonical text. Regular expressions run in time linear in the text (re2), are bounded in
 * size and compiled once; all others compare characters at word boundaries.
 */
import { RE2JS } from 're2js';
import type { RuleMatch } from '../contract/index.ts';
import { AgentReachError, errorText } from '../core/index.ts';
import { isBoundary, isVisible, ruleText, type TextSpan } from './rule-text.ts';

/** Instructions of a compiled regex. Cost is size times length of the text: 400 is tens of milliseconds at 2,000 characters. */
const MAX_REGEX_SIZE = 400;

export interface PatternMatcher {
  readonly match: RuleMatch;
  /** As the rule wrote it. */
  readonly source: string;
  /** What is compared; of a regex its source. */
  readonly text: string;
  /** Steps of a compiled regex, 0 for text. */
  readonly size: number;
  matches(text: string): boolean;
  /** Where it is found, in order, at most MAX_SPANS places. */
  spans(text: string): TextSpan[];
}

/** Places looked at in one text: more of the same pattern say nothing new. */
const MAX_SPANS = 32;

export function matchesPrefix(text: string, pattern: string): boolean {
  return text.startsWith(pattern) && isBoundary(text, pattern.length);
}

export function matchesContains(text: string, pattern: string): boolean {
  return containsSpans(text, pattern, 1).length > 0;
}

function containsSpans(text: string, pattern: string, limit: number): TextSpan[] {
  const spans: TextSpan[] = [];
  for (let at = text.indexOf(pattern); at >= 0 && spans.length < limit; at = text.indexOf(pattern, at + 1)) {
    const end = at + pattern.length;
    if (isBoundary(text, at) && isBoundary(text, end)) spans.push({ start: at, end });
  }
  return spans;
}

function regexSpans(regex: RE2JS, text: string): TextSpan[] {
  const spans: TextSpan[] = [];
  const matcher = regex.matcher(text);
  while (spans.length < MAX_SPANS && matcher.find()) spans.push({ start: matcher.start(), end: matcher.end() });
  return spans;
}

const wholeSpan = (found: boolean, end: number): TextSpan[] => (found ? [{ start: 0, end }] : []);

function invalidRule(path: string, message: string, cause?: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_RULE', {
    detail: `${path}: ${message}`,
    issues: [{ path, message }],
    ...(cause === undefined ? {} : { cause }),
  });
}

function compileRegex(source: string, path: string): PatternMatcher {
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    throw invalidRule(path, `${errorText(error)}; look-around and back references are not supported`, error);
  }
  if (regex.programSize() > MAX_REGEX_SIZE) {
    throw invalidRule(path, `compiles to ${regex.programSize()} steps; at most ${MAX_REGEX_SIZE} are allowed`);
  }
  return {
    match: 'regex',
    source,
    text: source,
    size: regex.programSize(),
    matches: (text) => regex.test(text),
    spans: (text) => regexSpans(regex, text),
  };
}

/** Error: AR_ERR_INVALID_RULE, naming `path`. */
export function compilePattern(match: RuleMatch, source: string, path: string): PatternMatcher {
  const text = ruleText(source);
  if (!isVisible(text)) throw invalidRule(path, 'holds no word or symbol');
  switch (match) {
    case 'exact': {
      const matches = (other: string): boolean => other === text;
      return { match, source, text, size: 0, matches, spans: (other) => wholeSpan(matches(other), text.length) };
    }
    case 'prefix': {
      const matches = (other: string): boolean => matchesPrefix(other, text);
      return { match, source, text, size: 0, matches, spans: (other) => wholeSpan(matches(other), text.length) };
    }
    case 'contains': {
      const spans = (other: string): TextSpan[] => containsSpans(other, text, MAX_SPANS);
      return { match, source, text, size: 0, matches: (other) => matchesContains(other, text), spans };
    }
    case 'regex':
      return compileRegex(source, path);
  }
}
