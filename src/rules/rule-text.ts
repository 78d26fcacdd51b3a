/**
 * How rules read text: canonical form with one kind of apostrophe, word boundaries that hold in every script, and the
 * languages by script. A pattern that ends in a letter or digit must not be glued to another one ("pythonic" is not
 * "python"), except in scripts that write no spaces, where every character may begin a word (用python写函数).
 */
import { canonicalText } from '../core/index.ts';

/** Keyboards and phones write don't with any of these; U+FF07 is folded by NFKC already. */
const APOSTROPHES = /[\u2018\u2019\u02bc\u2032`\u00b4]/g;
const WORD = /[\p{L}\p{N}\p{M}]/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const HAN = /\p{Script=Han}/u;
const LATIN = /\p{Script=Latin}/u;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

export type RuleLanguage = 'zh' | 'en';

export interface TextSpan {
  readonly start: number;
  /** The first index behind. */
  readonly end: number;
}

/** `text` may be canonical already: the same comes out. */
export function ruleText(text: string): string {
  return canonicalText(text).replace(APOSTROPHES, "'");
}

/** As `ruleText`, for a text that is known to be canonical. */
export function foldApostrophes(canonical: string): string {
  return canonical.replace(APOSTROPHES, "'");
}

/** Mixed text is of both languages, digits alone of neither. */
export function languagesOf(text: string): ReadonlySet<RuleLanguage> {
  const languages = new Set<RuleLanguage>();
  if (HAN.test(text)) languages.add('zh');
  if (LATIN.test(text)) languages.add('en');
  return languages;
}

/** Whether a text pattern can be looked for: a word or a symbol, not white space and invisible characters alone. */
export function isVisible(canonical: string): boolean {
  return VISIBLE.test(canonical);
}

/** What stands before the first match of `end`, or all of the text. */
export function upTo(end: RegExp, text: string): string {
  const at = text.search(end);
  return at < 0 ? text : text.slice(0, at);
}

function glues(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
  return WORD.test(character) && !UNSPACED.test(character);
}

function characterAt(text: string, index: number): string {
  const code = text.codePointAt(index);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function characterBefore(text: string, index: number): string {
  const low = text.charCodeAt(index - 1);
  const isPair = low >= 0xdc00 && low <= 0xdfff && index >= 2;
  return characterAt(text, index - (isPair ? 2 : 1));
}

/** Whether no word runs across `index`: the end of the text, or two neighbours of which one does not glue. */
export function isBoundary(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return true;
  return !(glues(characterBefore(text, index)) && glues(characterAt(text, index)));
}
