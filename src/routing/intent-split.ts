/**
 * Whether a request holds several intents, judged by meaning: each part is by itself surely one capability, the parts
 * are different ones, and the whole reads less like any of them. "Search and replace text" has a place to cut and one
 * meaning. Pure; the bounds were chosen on training requests, where they split under 1 in 100 that are one.
 */
import type { Piece } from './intent-pieces.ts';
import type { RecalledCapability, RecallResult } from './recall.ts';

/** A part of a request, and what it could mean. */
export interface IntentPart {
  readonly text: string;
  readonly recall: RecallResult;
}

/** Likelier than not is not enough: every part must be right at once. */
const LEAST_RELEVANCE = 0.6;
/** Two capabilities this near in one part: it is not sure which it means. */
const LEAST_LEAD = 0.05;

/** Texts of every run of pieces but the whole, with the pieces that they reach over. */
export interface Span {
  readonly from: number;
  /** The last piece. */
  readonly to: number;
  readonly text: string;
}

export function spansOf(text: string, pieces: readonly Piece[]): Span[] {
  const spans: Span[] = [];
  for (const [from, first] of pieces.entries()) {
    for (const [to, last] of pieces.entries()) {
      if (to < from || (from === 0 && to === pieces.length - 1)) continue;
      spans.push({ from, to, text: text.slice(first.start, last.end) });
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
  const sure = spans.filter(({ recall }) => isSure(recall) && isLessOf(whole, recall.capabilities[0]));
  let best: { readonly parts: readonly IntentPart[]; readonly least: number } | undefined;
  for (const parts of chains(sure, 0, pieces)) {
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

function isSure({ capabilities: [best, second] }: RecallResult): boolean {
  if (best === undefined || best.relevance < LEAST_RELEVANCE) return false;
  return second === undefined || best.relevance - second.relevance > LEAST_LEAD;
}

function isLessOf(whole: RecallResult, part: RecalledCapability | undefined): boolean {
  const inWhole = whole.capabilities.find(({ name }) => name === part?.name);
  return part !== undefined && (inWhole?.relevance ?? 0) < part.relevance;
}
