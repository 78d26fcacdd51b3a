/**
 * The known words, by their letter triples, so that a misspelt one finds what was meant: `subscripton` ->
 * `subscription`, `cancle` -> `cancel`. Latin words of five letters and more with the same first letter, one edit
 * apart, two from eight letters on. A look-up costs the known words that share a triple, about 30 us among 10,000;
 * only words that nobody knows are looked up.
 */
import { editDistance } from '../core/index.ts';

const SPELT = /^[a-z]{5,24}$/u;
const TWO_EDITS_FROM = 8;

export class SpellingIndex {
  readonly #wordsOf = new Map<string, Set<string>>();

  add(word: string): void {
    if (!SPELT.test(word)) return;
    for (const triple of triplesOf(word)) {
      const words = this.#wordsOf.get(triple);
      if (words === undefined) this.#wordsOf.set(triple, new Set([word]));
      else words.add(word);
    }
  }

  remove(word: string): void {
    if (!SPELT.test(word)) return;
    for (const triple of triplesOf(word)) {
      const words = this.#wordsOf.get(triple);
      words?.delete(word);
      if (words?.size === 0) this.#wordsOf.delete(triple);
    }
  }

  /** The nearest known word; of equally near ones the first by alphabet. Undefined where none is near. */
  nearest(word: string): string | undefined {
    if (!SPELT.test(word)) return undefined;
    const limit = word.length < TWO_EDITS_FROM ? 1 : 2;
    let nearest: string | undefined;
    let least = limit + 1;
    for (const known of this.#sharing(word)) {
      if (Math.abs(known.length - word.length) > limit || known[0] !== word[0]) continue;
      const distance = editDistance(word, known, limit);
      if (distance < least || (distance === least && nearest !== undefined && known < nearest)) {
        least = distance;
        nearest = known;
      }
    }
    return nearest;
  }

  #sharing(word: string): Set<string> {
    const found = new Set<string>();
    for (const triple of triplesOf(word)) for (const known of this.#wordsOf.get(triple) ?? []) found.add(known);
    return found;
  }
}

/** With the ends marked, so that a swap in the middle of a short word leaves some whole: `^ca`, `can`; `le$`. */
function triplesOf(word: string): Set<string> {
  const marked = `^${word}$`;
  const triples = new Set<string>();
  for (let at = 0; at + 3 <= marked.length; at += 1) triples.add(marked.slice(at, at + 3));
  return triples;
}
