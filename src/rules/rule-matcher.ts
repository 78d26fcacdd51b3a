/**
 * One pattern against one canonical text. Regular expressions run in time linear in the text (re2), are bounded in
 * size and compiled once; all others compare characters at word boundaries.
 */
import { RE2JS } from 're2js';
import type { RuleMatch } from '../contract/index.ts';
import { AgentReachError, errorText } from '../core/index.ts';
import { isBoundary, isVisible, ruleText } from './rule-text.ts';

/** Instructions of a compiled regex. Cost is size times length of the text: 400 is tens of milliseconds at 2,000 characters. */
const MAX_REGEX_SIZE = 400;

export interface PatternMatcher {
  readonly match: RuleMatch;
  /** As the rule wrote it. */
  readonly source: string;
  /** What is compared; of a regex its source. */
  readonly text: string;
  matches(text: string): boolean;
}

export function matchesPrefix(text: string, pattern: string): boolean {
  return text.startsWith(pattern) && isBoundary(text, pattern.length);
}

export function matchesContains(text: string, pattern: string): boolean {
  for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) {
    if (isBoundary(text, at) && isBoundary(text, at + pattern.length)) return true;
  }
  return false;
}

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
  return { match: 'regex', source, text: source, matches: (text) => regex.test(text) };
}

/** Error: AR_ERR_INVALID_RULE, naming `path`. */
export function compilePattern(match: RuleMatch, source: string, path: string): PatternMatcher {
  const text = ruleText(source);
  if (!isVisible(text)) throw invalidRule(path, 'holds no word or symbol');
  switch (match) {
    case 'exact':
      return { match, source, text, matches: (other) => other === text };
    case 'prefix':
      return { match, source, text, matches: (other) => matchesPrefix(other, text) };
    case 'contains':
      return { match, source, text, matches: (other) => matchesContains(other, text) };
    case 'regex':
      return compileRegex(source, path);
  }
}
