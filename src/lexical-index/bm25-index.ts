/**
 * BM25F in memory, changed one document at a time. A search costs the postings of its terms, never the number of
 * documents; a removal leaves nothing behind, and the slot of a removed document is used again. The same documents
 * give the same answers whatever the order in which they came.
 */
import type { LexicalDocument, LexicalHit, LexicalIndex } from './lexical-index.ts';
import { SpellingIndex } from './spelling.ts';
import { isNumeric, joinedNeighbours, lexicalTerms, stemOf, tokenize } from './tokenizer.ts';

/** One field: how much a word there counts, and how much a long field is held against it (0 not at all, 1 in full). */
export interface FieldWeight {
  readonly weight: number;
  readonly lengthPenalty: number;
}

export interface Bm25Options {
  readonly name?: FieldWeight;
  readonly aliases?: FieldWeight;
  readonly descriptions?: FieldWeight;
  readonly examples?: FieldWeight;
  /** How late repeated words stop adding to the score; 0 = a word counts once. */
  readonly saturation?: number;
}

const DEFAULTS = {
  name: { weight: 2, lengthPenalty: 0.4 },
  aliases: { weight: 2, lengthPenalty: 0.4 },
  descriptions: { weight: 1, lengthPenalty: 0.6 },
  examples: { weight: 0.8, lengthPenalty: 0.6 },
  saturation: 1.2,
} as const satisfies Required<Bm25Options>;

const FIELDS = ['name', 'aliases', 'descriptions', 'examples'] as const;
const FIELD_COUNT = FIELDS.length;
/** Word counts of the four fields lie in one small integer, seven bits each; V8 keeps such arrays unboxed. */
const FIELD_BITS = 7;
const MAX_FIELD_COUNT = 2 ** FIELD_BITS - 1;
/** A query of 10 kB is cut here; a real request has under 40. */
const MAX_QUERY_TERMS = 256;
/** Bounds the memory of one document; the name and the aliases come first and are never cut. */
const MAX_DOCUMENT_TERMS = 4096;
/** Unknown words of one query that are taken for misspelt ones. */
const MAX_CORRECTIONS = 8;
/** What a word counts that is only probably the one that was typed. */
const CORRECTED_WEIGHT = 0.6;

interface Postings {
  readonly slots: number[];
  /** Packed word counts, one for each slot. */
  readonly counts: number[];
}

interface StoredDocument {
  readonly id: string;
  readonly terms: readonly string[];
  readonly stems: readonly string[];
  readonly lengths: readonly number[];
}

/** One word of a query as it is looked up. */
interface Wanted {
  readonly term: string;
  readonly weight: number;
}

/** What the index holds, for tests and metrics. */
export interface Bm25Stats {
  readonly documents: number;
  readonly terms: number;
  readonly postings: number;
  readonly slots: number;
}

export class Bm25Index implements LexicalIndex {
  readonly #slotOf = new Map<string, number>();
  readonly #stored: (StoredDocument | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  readonly #postings = new Map<string, Postings>();
  /** Stem -> slots of the documents with a word of that stem; coverage is counted in stems, the score in words. */
  readonly #stems = new Map<string, number[]>();
  readonly #spelling = new SpellingIndex();
  readonly #totalLengths: number[] = FIELDS.map(() => 0);
  readonly #fields: readonly FieldWeight[];
  readonly #saturation: number;
  #scores = new Float64Array(64);
  #covered = new Float64Array(64);

  constructor(options: Bm25Options = {}) {
    this.#fields = FIELDS.map((field) => options[field] ?? DEFAULTS[field]);
    this.#saturation = options.saturation ?? DEFAULTS.saturation;
  }

  get size(): number {
    return this.#slotOf.size;
  }

  get stats(): Bm25Stats {
    let postings = 0;
    for (const { slots } of this.#postings.values()) postings += slots.length;
    return {
      documents: this.#slotOf.size,
      terms: this.#postings.size,
      postings,
      slots: this.#stored.length - this.#freeSlots.length,
    };
  }

  upsert(document: LexicalDocument): void {
    this.remove(document.id);
    const { packed, lengths } = countTerms(document);
    const slot = this.#freeSlots.pop() ?? this.#stored.length;
    const terms = [...packed.keys()];
    const stems = [...new Set(terms.map(stemOf))];
    this.#stored[slot] = { id: document.id, terms, stems, lengths };
    this.#slotOf.set(document.id, slot);
    for (const stem of stems) {
      const slots = this.#stems.get(stem);
      if (slots === undefined) this.#stems.set(stem, [slot]);
      else slots.push(slot);
    }
    for (const [term, count] of packed) {
      const postings = this.#postings.get(term);
      if (postings === undefined) {
        // Not made empty and pushed to: that leaves room for seventeen in each, and most words stand in one document.
        this.#postings.set(term, { slots: [slot], counts: [count] });
        this.#spelling.add(term);
      } else {
        postings.slots.push(slot);
        postings.counts.push(count);
      }
    }
    this.#addLengths(lengths, 1);
    this.#growTo(this.#stored.length);
  }

  remove(id: string): boolean {
    const slot = this.#slotOf.get(id);
    const stored = slot === undefined ? undefined : this.#stored[slot];
    if (slot === undefined || stored === undefined) return false;
    for (const term of stored.terms) this.#removePosting(term, slot);
    for (const stem of stored.stems) this.#removeStem(stem, slot);
    this.#addLengths(stored.lengths, -1);
    this.#stored[slot] = undefined;
    this.#slotOf.delete(id);
    this.#freeSlots.push(slot);
    if (this.size === 0) {
      this.#stored.length = 0;
      this.#freeSlots.length = 0;
    }
    return true;
  }

  search(query: string, topK: number): LexicalHit[] {
    if (this.size === 0 || !(topK >= 1)) return [];
    const touched: number[] = [];
    const wanted = this.#wanted(query);
    const queryWeight = this.#cover(wanted, touched);
    for (const { term, weight } of wanted) {
      const postings = this.#postings.get(term);
      if (postings !== undefined) this.#accumulate(postings, weight * this.#rarity(postings.slots.length));
    }
    const best = this.#selectBest(touched, topK);
    const hits = best.map((slot) => ({
      id: this.#stored[slot]?.id ?? '',
      score: this.#scores[slot] ?? 0,
      coverage: Math.min(1, (this.#covered[slot] ?? 0) / queryWeight),
    }));
    for (const slot of touched) {
      this.#scores[slot] = 0;
      this.#covered[slot] = 0;
    }
    return hits;
  }

  /** The words of a query that can tell anything: numbers that no document has are left out, slips are mended. */
  #wanted(query: string): Wanted[] {
    let corrections = 0;
    return lexicalTerms(query, MAX_QUERY_TERMS).flatMap((term) => {
      if (this.#postings.has(term)) return [{ term, weight: 1 }];
      if (isNumeric(term)) return [];
      const meant = corrections < MAX_CORRECTIONS ? this.#spelling.nearest(term) : undefined;
      if (meant === undefined) return [{ term, weight: 1 }];
      corrections += 1;
      return [{ term: meant, weight: CORRECTED_WEIGHT }];
    });
  }

  /** Counts what each document covers; answers the weight of the whole query. */
  #cover(wanted: readonly Wanted[], touched: number[]): number {
    const weightOf = new Map<string, number>();
    for (const { term, weight } of wanted) {
      const stem = stemOf(term);
      weightOf.set(stem, Math.max(weight, weightOf.get(stem) ?? 0));
    }
    let queryWeight = 0;
    for (const [stem, weight] of weightOf) {
      const slots = this.#stems.get(stem) ?? [];
      const rarity = this.#rarity(slots.length);
      queryWeight += rarity;
      for (const slot of slots) {
        if (this.#covered[slot] === 0) touched.push(slot);
        this.#covered[slot] = (this.#covered[slot] ?? 0) + weight * rarity;
      }
    }
    return queryWeight;
  }

  /**
   * Inverse document frequency in units of a word that one document alone has, so that scores of a registry of ten
   * and of a thousand capabilities can be calibrated together. Above 0 even for a word that every document has.
   */
  #rarity(documentCount: number): number {
    const idf = (count: number): number => Math.log(1 + (this.size - count + 0.5) / (count + 0.5));
    return idf(documentCount) / idf(1);
  }

  /** Every slot here has been touched by the stem of the same word. */
  #accumulate({ slots, counts }: Postings, rarity: number): void {
    for (let at = 0; at < slots.length; at += 1) {
      const slot = slots[at] ?? 0;
      const frequency = this.#frequency(slot, counts[at] ?? 0);
      this.#scores[slot] =
        (this.#scores[slot] ?? 0) + (rarity * frequency * (1 + this.#saturation)) / (this.#saturation + frequency);
    }
  }

  /** Word counts of all fields as one number: each divided by its field's length against the average, and weighed. */
  #frequency(slot: number, packed: number): number {
    const lengths = this.#stored[slot]?.lengths ?? [];
    let sum = 0;
    for (let field = 0; field < FIELD_COUNT; field += 1) {
      const count = (packed >> (field * FIELD_BITS)) & MAX_FIELD_COUNT;
      const rule = this.#fields[field];
      if (count === 0 || rule === undefined) continue;
      const averageLength = (this.#totalLengths[field] ?? 0) / this.size;
      const relativeLength = (lengths[field] ?? 0) / averageLength;
      sum += (rule.weight * count) / (1 - rule.lengthPenalty + rule.lengthPenalty * relativeLength);
    }
    return sum;
  }

  #selectBest(touched: readonly number[], topK: number): number[] {
    const best: number[] = [];
    for (const slot of touched) {
      const last = best.at(-1);
      if (best.length >= topK && last !== undefined && !this.#isBetter(slot, last)) continue;
      let low = 0;
      let high = best.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.#isBetter(slot, best[middle] ?? slot)) high = middle;
        else low = middle + 1;
      }
      best.splice(low, 0, slot);
      if (best.length > topK) best.pop();
    }
    return best;
  }

  #isBetter(left: number, right: number): boolean {
    const difference =
      (this.#scores[left] ?? 0) - (this.#scores[right] ?? 0) ||
      (this.#covered[left] ?? 0) - (this.#covered[right] ?? 0);
    if (difference !== 0) return difference > 0;
    return (this.#stored[left]?.id ?? '') < (this.#stored[right]?.id ?? '');
  }

  #removeStem(stem: string, slot: number): void {
    const slots = this.#stems.get(stem);
    const last = slots?.pop();
    if (slots === undefined || last === undefined) return;
    const at = slots.indexOf(slot);
    if (at >= 0) slots[at] = last;
    if (slots.length === 0) this.#stems.delete(stem);
  }

  #removePosting(term: string, slot: number): void {
    const postings = this.#postings.get(term);
    if (postings === undefined) return;
    const at = postings.slots.indexOf(slot);
    const lastSlot = postings.slots.pop();
    const lastCount = postings.counts.pop();
    if (lastSlot !== undefined && lastCount !== undefined && at < postings.slots.length) {
      postings.slots[at] = lastSlot;
      postings.counts[at] = lastCount;
    }
    if (postings.slots.length > 0) return;
    this.#postings.delete(term);
    this.#spelling.remove(term);
  }

  #addLengths(lengths: readonly number[], sign: 1 | -1): void {
    for (let field = 0; field < FIELD_COUNT; field += 1) {
      this.#totalLengths[field] = (this.#totalLengths[field] ?? 0) + sign * (lengths[field] ?? 0);
    }
  }

  /** The two accumulators are all zero between searches, so that growing needs no copy. */
  #growTo(slots: number): void {
    if (slots <= this.#scores.length) return;
    this.#scores = new Float64Array(slots * 2);
    this.#covered = new Float64Array(slots * 2);
  }
}

function countTerms(document: LexicalDocument): { packed: Map<string, number>; lengths: number[] } {
  const packed = new Map<string, number>();
  const lengths = FIELDS.map((field, index) => {
    const texts = field === 'name' ? [document.name] : document[field];
    const shift = index * FIELD_BITS;
    const add = (term: string): void => {
      const before = packed.get(term) ?? 0;
      if (((before >> shift) & MAX_FIELD_COUNT) < MAX_FIELD_COUNT) packed.set(term, before + (1 << shift));
    };
    let length = 0;
    for (const text of texts) {
      if (packed.size >= MAX_DOCUMENT_TERMS) break;
      tokenize(text, {
        limit: MAX_DOCUMENT_TERMS,
        onTerm: (term) => {
          add(term);
          length += 1;
        },
      });
      if (index < 2) for (const joined of joinedNeighbours(text)) add(joined);
    }
    return length;
  });
  return { packed, lengths };
}
