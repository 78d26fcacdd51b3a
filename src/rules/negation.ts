/**
 * Whether what a rule looks for is denied where it is found ("don't delete it", 不要删除). Looks at the clause around the
 * place, never at a list of phrases with the pattern in them. Cost: linear in the nearest MAX_CONTEXT characters.
 */
import { chineseNegation } from './negation-chinese.ts';
import { englishNegation } from './negation-english.ts';
import type { TextSpan } from './rule-text.ts';

/** Characters looked at on each side: longer than any clause whose negation still reaches. */
export const MAX_CONTEXT = 240;

/** The words that deny the text at this place, or undefined. `text` as `ruleText` answers it. */
export function negationAt(text: string, { start, end }: TextSpan): string | undefined {
  const before = text.slice(Math.max(0, start - MAX_CONTEXT), start);
  const after = text.slice(end, end + MAX_CONTEXT);
  return englishNegation(before, after) ?? chineseNegation(before, after);
}
