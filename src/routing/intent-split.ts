/**
 * Whether a request holds several intents, judged by meaning: each part is by itself surely one capability, the parts
 * are different ones, and the whole reads less like any of them. "I'm out of milk, add it to my list" has a place to cut and
 * one meaning. Pure; the bounds were chosen on training requests, where they split under 1 in 100 that are one.
 */
import type { Piece } from './intent-pieces.ts';
import type { RecallResult } from './recall.ts';

/** A part of a request, and what it could mean. */
export interface IntentPart {
  readonly text: string;
  readonly recall: RecallResult;
}

interface Bounds {
  /** Every part must be right at once, so likelier than not is not enough. */
  readonly leastRelevance: number;
  /** Log odds by which each part must mean its capability more than the whole does. */
  readonly leastGain: number;
}

/** Between clauses, which often tell of the reason for one request ("I'm planning a trip, what is the weather"). */
const CLAUSES: Bounds = { leastRelevance: 0.7, leastGain: 0.8 };
/** Where a word says that another deed follows. */
const DEEDS: Bounds = { leastRelevance: 0.4, leastGain: 0 };
/** Two capabilities this near in one part: it is not sure which it means. */
const LEAST_LEAD = 0.05;

/** Texts of every run of pieces but the whole, with the pieces that they reach over. */
export interface Span {
  readonly from: number;
  /** The last piece. */
  readonly to: number;
  readonly text: string;
  readonly isNextDeed: boolean;
}

export function spansOf(text: string, pieces: readonly Piece[]): Span[] {
  const spans: Span[] = [];
  for (const [from, first] of pieces.entries()) {
    for (const [to, last] of pieces.entries()) {
      if (to < from || (from === 0 && to === pieces.length - 1)) continue;
      const { isNextDeed } = first;
      spans.push({ from, to, text: text.slice(first.start, last.end), isNextDeed });
    }
  }
  return spans;
}

/** The surest way to cut; of equal ones that with the fewest parts. Undefined: it is one intent. */
export function surestSplit(
  whole: RecallResult,
  spans: readonly (Span & { readonly recall: RecallResult })[],
): readonly IntentPart[] | undefined {
  const pieces = 1 + Math.max(...spans.map(({ to }) => to));
  const possible = spans.filter((span) => isSure(span.recall, whole, DEEDS));
  let best: { readonly parts: readonly IntentPart[]; readonly least: number } | undefined;
  for (const parts of chains(possible, 0, pieces)) {
    const isOfDeeds = parts.slice(1).every(({ isNextDeed }) => isNextDeed);
    if (!isOfDeeds && !parts.every(({ recall }) => isSure(recall, whole, CLAUSES))) continue;
    const names = new Set(parts.map(({ recall }) => recall.capabilities[0]?.name));
    if (names.size < parts.length) continue;
    const least = Math.min(...parts.map(({ recall }) => recall.capabilities[0]?.relevance ?? 0));
    if (best === undefined || least > best.least || (least === best.least && parts.length < best.parts.length)) {
      best = { parts: parts.map(({ text, recall }) => ({ text, recall })), least };
    }
  }
  return best?.parts;
}

/** Every row of spans that covers the pieces from `at` on, one after another. */
function* chains<One extends Span>(spans: readonly One[], at: number, pieces: number): Generator<readonly One[]> {
  if (at === pieces) yield [];
  for (const span of spans) {
    if (span.from !== at) continue;
    for (const rest of chains(spans, span.to + 1, pieces)) yield [span, ...rest];
  }
}

/** Whether a part means one capability, and means it more than the whole does. */
function isSure({ capabilities: [best, second] }: RecallResult, whole: RecallResult, bounds: Bounds): boolean {
  if (best === undefined || best.relevance < bounds.leastRelevance) return false;
  if (second !== undefined && best.relevance - second.relevance <= LEAST_LEAD) return false;
  const inWhole = whole.capabilities.find(({ name }) => name === best.name)?.relevance ?? 0;
  return inWhole < best.relevance && logOdds(best.relevance) - logOdds(inWhole) >= bounds.leastGain;
}

function logOdds(relevance: number): number {
  const inside = Math.min(1 - 1e-6, Math.max(1e-6, relevance));
  return Math.log(inside / (1 - inside));
}
