/**
 * Where a text could fall into several requests: at the ends of its clauses and at words that join two. These are
 * places to look at, no more; whether a cut is made is judged by what the pieces mean (intent-split.ts). A condition
 * ("if it rains, remind me", 如果下雨就提醒我) belongs to what follows it. Cost: one pass over the text.
 */

/** A piece of a canonical text: `end` is the first index behind. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  /** Whether a word that begins another deed ("then", 然后) stands before it. */
  readonly isNextDeed: boolean;
}

/** All spans of four pieces are nine texts for the model; what has more is asked at its sentences, or as a whole. */
export const MAX_PIECES = 4;

const DEED =
  /(?:\b(?:and then|then|and also|and after that|after that|afterwards|as well as|plus)\b|(?:然后|接着|随后|之后再|另外|此外|同时|顺便|还有|并且|以及|而且)),?/u
    .source;
/** Ends of sentences ("3.5" and "u.s." are none), and words that begin another deed. */
const STRONG = `(?:(?:[!?;。\\n]|(?<=\\p{L}{3}|\\p{N}|\\p{Script=Han})\\.(?=\\s|$))+\\s*|[,、]\\s*)?${DEED}|(?:[!?;。\\n]|(?<=\\p{L}{3}|\\p{N}|\\p{Script=Han})\\.(?=\\s|$))+(?:\\s*(?:and|also)\\b)?`;
const WEAK =
  /[,、](?:\s*(?:and|also)\b)?|\b(?:and|also)\b|再(?![见次也三])|(?<!合)并(?![不非没发列购])|和(?![平谐服好])/u.source;
const DEED_CUT = new RegExp(DEED, 'u');
const STRONG_CUT = new RegExp(STRONG, 'gu');
const ANY_CUT = new RegExp(`${STRONG}|${WEAK}`, 'gu');

const CONDITION =
  /^\s*(?:(?:please|and|but)\s+)?(?:if|when|whenever|once|unless|because|since|while|after|before|in case)\b|^\s*(?:如果|要是|假如|若|当|一旦|只要|除非|因为|等到?)/u;
/** "Please whenever": as far as a condition is looked for. */
const LONGEST_CONDITION = 24;
/** Han characters and words of any other script. */
const UNITS = /\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu;
/** A Chinese request takes two characters (订票), an English one two words. */
const LEAST_UNITS = 2;

/** One piece: nothing to cut. Trimmed, in the order of the text. */
export function piecesOf(canonical: string): readonly Piece[] {
  const pieces = cutAt(canonical, ANY_CUT);
  if (pieces.length <= MAX_PIECES) return pieces;
  const sentences = cutAt(canonical, STRONG_CUT);
  return sentences.length <= MAX_PIECES ? sentences : [{ start: 0, end: canonical.length, isNextDeed: false }];
}

/** Goes no further than one piece too many. */
function cutAt(canonical: string, cut: RegExp): Piece[] {
  const pieces: Piece[] = [];
  let units: Uint32Array | undefined;
  let start = 0;
  let isNextDeed = false;
  for (const match of canonical.matchAll(cut)) {
    units ??= unitsBefore(canonical);
    const behind = match.index + match[0].length;
    if (!isWhole(canonical, units, start, match.index) || !isWhole(canonical, units, behind)) continue;
    pieces.push({ ...trimmed(canonical, start, match.index), isNextDeed });
    if (pieces.length > MAX_PIECES) return pieces;
    start = behind;
    isNextDeed = DEED_CUT.test(match[0]);
  }
  pieces.push({ ...trimmed(canonical, start, canonical.length), isNextDeed });
  return pieces;
}

/** Of each index how many units begin before it: what a part weighs is then a difference, however many are weighed. */
function unitsBefore(canonical: string): Uint32Array {
  const before = new Uint32Array(canonical.length + 1);
  for (const { index } of canonical.matchAll(UNITS)) before[index + 1] = 1;
  let units = 0;
  for (let index = 0; index < before.length; index++) {
    units += before[index] as number;
    before[index] = units;
  }
  return before;
}

/** Whether this could be a request by itself. */
function isWhole(canonical: string, units: Uint32Array, start: number, end = canonical.length): boolean {
  if (CONDITION.test(canonical.slice(start, Math.min(end, start + LONGEST_CONDITION)))) return end === canonical.length;
  return (units[end] as number) - (units[start] as number) >= LEAST_UNITS;
}

function trimmed(canonical: string, start: number, end: number): Omit<Piece, 'isNextDeed'> {
  const text = canonical.slice(start, end);
  const lead = text.length - text.trimStart().length;
  return { start: start + lead, end: start + text.trimEnd().length };
}
