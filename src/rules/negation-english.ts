/**
 * Whether English words deny what stands at a place: a negating word earlier in the same clause whose reach gets
 * there, or a refusal after it ("deleting it is not allowed"). Two negations in a row affirm ("don't forget to").
 * Works on structure (clauses, reach, pairs), not on the pattern's own words. Cost: linear in the clause, of
 * which only the last words are taken for negations.
 */
import { upTo } from './rule-text.ts';

/** Latin words, and runs of any other script: "请don't" is two words. */
const WORD = /[a-z\d]+(?:'[a-z]+)?|[^\p{ASCII}\s]+/gu;
/** Ends a clause, so nothing before it reaches what follows. */
const CLAUSE_END = /[.!?;:\n()]|(?:^|\s)[-–—]+(?:\s|$)/;
/** Ends what a refusal after the place could still be about. */
const PAUSE = /[,.!?;:\n()]/;
const LETTER = /[a-z]/;
/** Words that begin something else: a contrast, a consequence, an embedded question, a polite restart. */
const RESTART = new Set(
  'but however then so because whether how why when where what which that who if unless although though now'.split(' '),
);
/** Of these a clause of its own: only a negation right before the place counts in it. */
const CONDITION = new Set('if when once since because unless whenever as while after before until where'.split(' '));

/** Fixed words that look negating and are not. Replaced by a neutral word of the same role. */
const AFFIRMING: readonly RegExp[] = [
  /\bwhy (?:not|don't (?:you|we|i|they)|do not (?:you|we|i))\b/g,
  /\b(?:can't|couldn't|won't|wouldn't|shouldn't) (?:you|we|i)\b/g,
  /\bnot (?:only|just|merely|simply)\b/g,
  /\b(?:can't|cannot|can not|couldn't) (?:wait|help(?: but)?)\b/g,
  /\bnothing (?:but|except)\b/g,
  /\b(?:do not|don't|never) (?:worry|mind|care|hesitate|wait|panic|be (?:afraid|shy|scared))\b/g,
  /\b(?:do not|don't) disturb\b/g,
  /\bno (?:problem|doubt|worries|matter|longer than|later than|thanks)\b/g,
  /\bwithout (?:fail|doubt|delay|hesitation)\b/g,
  /\bwhether or not\b/g,
];

const NEGATOR =
  /^(?:not|never|cannot|nobody|none|neither|nor|nothing|nowhere|hardly|without|avoid(?:s|ed|ing)?|stop(?:s|ped)?|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|refrain(?:s|ed)?|prevent(?:s|ed)?|forbid(?:s|den)?|prohibit(?:s|ed)?|unable|impossible|fail(?:s|ed)?|forg(?:et|ets|ot|otten|etting)|instead|rather|\w+n't|(?:do|does|did|ca|wo|is|are|was|were|should|would|could|must|has|have|had|need)nt)$/;
/** Modal words between two negations that make one of them: "do not ever", "have never". */
const MAX_PAIR_GAP = 2;
/** Words that a negation still reaches over. */
const MAX_REACH = 10;
const AFTER =
  /^(?: (?!(?:that|which|who|whom|if|when|where|what|it|they|he|she|i|you|we|because|as)\b)[\w'-]+){0,4} (?:is|are|was|were|must be|should be) (?:strictly |absolutely )?(?:not|never|forbidden|prohibited|impossible|disallowed)\b|^ (?:isn't|wasn't|aren't) (?:an option|allowed|permitted|possible)\b|^ (?:nothing|none|neither|no \w+)\b(?! value)/;

interface Found {
  readonly word: string;
  readonly at: number;
}

function neutral(text: string): string {
  return AFFIRMING.reduce((left, idiom) => left.replace(idiom, (found) => 'x'.repeat(found.length)), text);
}

/** The words before the place that belong to its clause. */
function clauseWords(before: string): string[] {
  const clause = neutral(before.split(CLAUSE_END).at(-1) ?? '');
  const parts = clause.split(',').map((part) => part.match(WORD) ?? []);
  let words: string[] = [...(parts.pop() ?? [])];
  const isListed = words.at(-1) === 'or' || words.at(-1) === 'nor';
  // "do not, under any circumstances, delete" and "do not copy, move or delete" reach over their commas.
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const isOpen = endsNegated(part);
    const earlier = parts.at(-1);
    const isParenthesis = earlier !== undefined && endsNegated(earlier);
    if (isOpen || isParenthesis) words = [...part, ...words];
    else if (isListed && (part.length <= 2 || startsNegated(part))) words = [...part, ...words];
    else break;
  }
  return words;
}

/** Not "no": that answers what was said before. */
function endsNegated(words: readonly string[]): boolean {
  const last = negatorsIn(words).at(-1);
  return last !== undefined && last.word !== 'no' && last.at === words.length - 1;
}

const startsNegated = (words: readonly string[]): boolean => (negatorsIn(words)[0]?.at ?? 9) <= 2;

function negatorsIn(words: readonly string[], from = 0): Found[] {
  const found: Found[] = [];
  for (let at = from; at < words.length; at++) {
    const word = words[at] as string;
    const next = words[at + 1];
    if (word === 'no') {
      if (next === 'one' || next === undefined || at > 0 || ['need', 'reason', 'way', 'deleting'].includes(next)) {
        found.push({ word: next === 'one' ? 'no one' : word, at });
      }
    } else if (word === 'instead') {
      if (next === 'of') found.push({ word: 'instead of', at });
    } else if (word === 'rather') {
      if (next === 'than') found.push({ word: 'rather than', at });
    } else if (word === 'but' || word === 'except') {
      if (/^(?:every|any)(?:thing|one|body)$/.test(words[at - 1] ?? '')) found.push({ word, at });
    } else if (NEGATOR.test(word)) found.push({ word, at });
  }
  return found;
}

/** Of the last MAX_REACH words and the one before them, which is as far as any of them reaches. */
function reachingNegators(words: readonly string[]): Found[] {
  const condition = words.findIndex((one) => CONDITION.has(one));
  return negatorsIn(words, Math.max(0, words.length - MAX_REACH - 1)).filter((found) =>
    reaches(words, found, condition >= 0 && condition < found.at),
  );
}

function reaches(words: readonly string[], { word, at }: Found, opensCondition: boolean): boolean {
  const between = words.slice(at + 1);
  if (word === 'without' || word === 'rather than') return between.length <= 2;
  if (word !== 'but' && between.some((one, index) => RESTART.has(one) && !isExcluding(words, at + 1 + index)))
    return false;
  if (between.some((one, index) => one === 'please' && index > 0)) return false;
  return !opensCondition || between.length <= 1;
}

const isExcluding = (words: readonly string[], at: number): boolean =>
  words[at] === 'but' && /^(?:every|any)(?:thing|one|body)$/.test(words[at - 1] ?? '');

/** The word that negates what stands between `before` and `after`, or undefined. */
export function englishNegation(before: string, after: string): string | undefined {
  const reaching = LETTER.test(before) ? reachingNegators(clauseWords(before)) : [];
  const last = reaching.at(-1);
  if (last !== undefined) {
    let pairs = 0;
    for (let index = reaching.length - 1; index > 0; index--) {
      const [later, earlier] = [reaching[index], reaching[index - 1]];
      // "neither … nor" is one denial in two words.
      if (later === undefined || earlier === undefined || later.word === 'nor') break;
      if (later.at - earlier.at - 1 > MAX_PAIR_GAP) break;
      pairs++;
    }
    return pairs % 2 === 1 ? undefined : last.word;
  }
  return AFTER.exec(upTo(PAUSE, after))?.[0].trim();
}
