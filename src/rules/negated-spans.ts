/**
 * What a text asks not to be done: "don't delete, only list" asks not to delete. Only what is told, wished away or
 * excepted counts; what fails ("I can't log in", 无法登录) is what the text is about, and two negations that affirm
 * ("don't forget to book", 别忘了订票) ask for what they name. Built on the clause detectors of rules, so both languages
 * and mixed texts read alike. Cost: one test of the text where it holds no such word, else one look at the clause for
 * each of at most MAX_WORDS words near one.
 */
import { MAX_CONTEXT, negationAt } from './negation.ts';
import { foldApostrophes, type TextSpan } from './rule-text.ts';

export interface NegatedSpan {
  /** What is not to be done. */
  readonly denied: TextSpan;
  /** That and the words that deny it: what is left without it is what is asked for. */
  readonly whole: TextSpan;
  /** Whether it is told not to be done; false where one thing is only set against another ("tea instead of coffee"). */
  readonly isOrder: boolean;
}

/** Words held against their clause, 5 to 20 us each: about twice what a model reads of a text. Later ones stand as they are. */
const MAX_WORDS = 256;

const MAYBE =
  /\b(?:not|never|no|without|instead|rather|except|excluding|other than|apart from)\b|n't\b|\bdont\b|[不别甭勿莫毋除]|无[须需]|禁止|严禁|犯不着|没必要/gu;
/** Set one thing against another, wherever they stand. */
const SETS_AGAINST = /^(?:without|instead of|rather than|but|except|不需|无[须需]|用不着|犯不着|没必要|不必要)$/;
/** Tell not to, wherever they stand. */
const ORDERS = /^(?:不[要用必想愿许准得]|别|甭|勿|莫|毋[须庸]|禁止|严禁)$/;
/** Tell not to where nobody is said to be the one who does not. */
const AT_CLAUSE_START = /^(?:don't|dont|never|not|不|不是)$/;
/** What may stand between the start of a clause and an order: nothing, a polite word, a conjunction, "you should". */
const ORDER_LEAD =
  /(?:^|[,.;:!?。、\n(]|\b(?:please|and|but|then|so|just|also|only|kindly|you)|[请但而并])\s*(?:(?:do|should|must|need|shall)\s*)?$/u;
/** "Don't you work here": a question. */
const ASKS = /^\s*(?:you|we|i|they|he|she|it)\b/;
/** "Flights, not hotels" is a contrast; where the clause has a verb of its own, "not" denies that verb. */
const STATEMENT =
  /(?:\b(?:is|are|was|were|am|be|been|has|have|had|can|could|will|would|may|might|did|does|do|i|we|he|she|they|why|if)\b|'(?:s|re|m|ve|d)\b)[^,.;:!?。\n]*$/;
const WISH = /^(?:really\s+)?(?:want|need|wish|like)(?:\s+(?:you|it))?(\s+to\b)?\s*/;
/** 不是 denies what it stands before only where the other thing follows. */
const CONTRAST = /^[^。.!?]*[,，]?(?:而|就)?是/u;

/** An exception, up to the end of its clause; 除了…还 adds and does not except. */
const EXCEPTION =
  /\b(?:except(?: for)?|excluding|other than|apart from)\s+([^,.;!?\n]+)|(?:除了|除开|除去|除)([^,.;!?。\n]{1,24}?)(?:以外|之外|外)(?![^。.!?]{0,240}[还也又])|除了([^,.;!?。\n]{1,24}),(?![^。.!?]{0,240}[还也又])/gu;

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/** In the order of the text, none inside another. `canonical` with simplified characters. */
export function negatedSpans(canonical: string): readonly NegatedSpan[] {
  if (canonical.search(MAYBE) < 0) return [];
  const text = foldApostrophes(canonical);
  const spans = [...exceptionsIn(text), ...toldIn(text)].sort((a, b) => a.whole.start - b.whole.start);
  return spans.filter(({ whole }, at) => whole.start >= (spans[at - 1]?.whole.end ?? 0));
}

function exceptionsIn(text: string): NegatedSpan[] {
  return Array.from(text.matchAll(EXCEPTION)).flatMap((match) => {
    const inner = match[1] ?? match[2] ?? match[3] ?? '';
    const start = match.index + match[0].indexOf(inner) + inner.length - inner.trimStart().length;
    const denied = { start, end: start + inner.trim().length };
    const whole = { start: match.index, end: match.index + match[0].length };
    return inner.trim() === '' ? [] : { denied, whole, isOrder: false };
  });
}

interface Told {
  readonly word: string;
  start: number;
  end: number;
}

function toldIn(text: string): NegatedSpan[] {
  const runs: Told[] = [];
  let open: Told | undefined;
  for (const { start, end } of wordsNearNegation(text)) {
    const word = negationAt(text, { start, end });
    if (word !== undefined && open?.word === word && !/[,.;!?。\n]/.test(text.slice(open.end, start))) open.end = end;
    else {
      open = word === undefined ? undefined : { word, start, end };
      if (open !== undefined) runs.push(open);
    }
  }
  return runs.flatMap((run) => spanOf(text, run) ?? []);
}

function wordsNearNegation(text: string): TextSpan[] {
  const places = Array.from(text.matchAll(MAYBE), ({ index }) => index);
  const words: TextSpan[] = [];
  let next = 0;
  for (const { segment, index: start, isWordLike } of segmenter.segment(text)) {
    const end = start + segment.length;
    while ((places[next] ?? Number.POSITIVE_INFINITY) < start - MAX_CONTEXT) next++;
    if (next === places.length || words.length === MAX_WORDS) break;
    if (isWordLike === true && (places[next] as number) <= end + MAX_CONTEXT) words.push({ start, end });
  }
  return words;
}

function spanOf(text: string, { word, start, end }: Told): NegatedSpan | undefined {
  const at = text.lastIndexOf(word, start - word.length);
  if (at < 0 || isNegator(text.slice(start, end))) return undefined;
  const behind = at + word.length;
  const before = text.slice(Math.max(0, at - MAX_CONTEXT), at);
  const after = text.slice(behind, behind + MAX_CONTEXT);
  const wish = WISH.exec(text.slice(start, end));
  const standing = standingOf(word, { before, after }, wish);
  const denied = { start: start + (wish?.[0].length ?? 0), end };
  if (standing === undefined || denied.start >= end) return undefined;
  // "Do not" and "I do not want to" go with what they deny.
  const lead = /(?:\b(?:i|we|you)\s+)?(?:\b(?:do|should|must|need)\s*)?$/.exec(before)?.[0].length ?? 0;
  return { denied, whole: { start: at - lead, end }, isOrder: standing === 'order' };
}

/** Undefined where it only tells of something that is not so. */
function standingOf(
  word: string,
  { before, after }: { readonly before: string; readonly after: string },
  wish: RegExpExecArray | null,
): 'order' | 'contrast' | undefined {
  if (ORDERS.test(word)) return 'order';
  if (SETS_AGAINST.test(word)) return 'contrast';
  if (word === 'no') return /^\s+need\b/.test(after) ? 'order' : undefined;
  if (!AT_CLAUSE_START.test(word) || ASKS.test(after)) return undefined;
  if (word === '不是') {
    return before.endsWith('而') || (ORDER_LEAD.test(before) && CONTRAST.test(after)) ? 'contrast' : undefined;
  }
  // A deed that is not wanted is as if told; a thing that is not wanted is often what the request is about.
  if (wish !== null && /\b(?:i|we)\s+(?:do\s*)?$/.test(before)) return wish[1] === undefined ? 'contrast' : 'order';
  if (ORDER_LEAD.test(before)) return word === 'not' && !/\bdo\s*$/.test(before) ? 'contrast' : 'order';
  const isContrast = word === 'not' && !STATEMENT.test(before) && !/\p{Script=Han}\s*$/u.test(before);
  return isContrast ? 'contrast' : undefined;
}

/** Whether what is denied only denies in its turn: 别忘了, "don't forget". */
function isNegator(word: string): boolean {
  const probe = `${word} x`;
  return negationAt(probe, { start: probe.length - 1, end: probe.length }) !== undefined;
}
