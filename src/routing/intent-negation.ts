/**
 * What a request asks not to be done, as evidence against the capabilities that do it: "don't delete, only list" is
 * searched as "only list", and what "delete" reads as is left out. A capability is left out only where the denied
 * words come nearer to it than the request as it stands, so that one whose meaning holds the negation (不要打扰, "do not
 * disturb") stays. Pure.
 */
import { foldChinese, hasWords } from '../core/index.ts';
import { type NegatedSpan, negatedSpans } from '../rules/index.ts';
import { floorOf, USUAL_MIN_RELEVANCE } from './gate.ts';
import type { RecalledCapability, RecallResult } from './recall.ts';

export interface DeniedText {
  readonly text: string;
  readonly isOrder: boolean;
  /** That are left out for it. */
  readonly capabilities: readonly RecalledCapability[];
}

/** A text and what it asks not to be done. */
export interface Negation {
  readonly denied: readonly { readonly text: string; readonly isOrder: boolean }[];
  /** What is left; null where that is no words. */
  readonly rest: string | null;
}

/** When denied words count as meaning a capability: when they would be answered with it, had they been asked. */
const COUNTS = { minRelevance: USUAL_MIN_RELEVANCE, ambiguityMargin: 0, relevanceGate: 0 };
/** Each is a text more for the model; what is denied beyond them is only left out of the rest. */
export const MAX_DENIED = 8;
const LOOSE_START = /^(?:[\s,.;:!?。、]|\b(?:and|but|please|so|then)\b|[但而并])+/u;
const LOOSE_END = /(?:[\s,;:、]|\b(?:and|but|or|please)\b|[但而并])$/u;
/** "please" and what stands before it. */
const LONGEST_LOOSE_END = 8;

/** Undefined where nothing is denied. */
export function negationOf(canonical: string): Negation | undefined {
  const folded = foldChinese(canonical);
  // Folding is character by character; where it is not, places in the one text are none in the other.
  const text = folded.length === canonical.length ? canonical : folded;
  const spans = negatedSpans(folded);
  if (spans.length === 0) return undefined;
  const rest = withoutLooseEnds(withoutSpans(text, spans).replace(/\s+/g, ' '));
  return {
    denied: spans
      .slice(0, MAX_DENIED)
      .map(({ denied, isOrder }) => ({ text: text.slice(denied.start, denied.end), isOrder })),
    rest: hasWords(rest) ? rest : null,
  };
}

function withoutSpans(text: string, spans: readonly NegatedSpan[]): string {
  let rest = '';
  let at = 0;
  for (const { whole } of spans) {
    rest += text.slice(at, whole.start);
    at = whole.end;
  }
  return rest + text.slice(at);
}

/** One loose end after the other: as one pattern it would be looked for at every place of a run of them. */
function withoutLooseEnds(text: string): string {
  let rest = text.replace(LOOSE_START, '');
  for (;;) {
    const end = LOOSE_END.exec(rest.slice(-LONGEST_LOOSE_END));
    if (end === null) return rest;
    rest = rest.slice(0, -end[0].length);
  }
}

/** The capabilities that the denied words mean rather than the whole request. */
export function capabilitiesDenied(denied: RecallResult, whole: RecallResult): readonly RecalledCapability[] {
  const floor = floorOf(denied.capabilities, COUNTS);
  const ofWhole = new Map(whole.capabilities.map((one) => [one.name, one]));
  return denied.capabilities.filter((one) => {
    if (one.relevance < floor) return false;
    const asked = ofWhole.get(one.name);
    if (asked?.similarity == null || one.similarity === null) return true;
    return one.similarity > asked.similarity || one.relevance > asked.relevance;
  });
}

/** Of the rest, so that it counts as what is asked for; where nothing was ordered, it must be likelier than not. */
const REST_COUNTS = { afterOrder: USUAL_MIN_RELEVANCE, afterContrast: 0.5 };

/**
 * Without what is denied: of the rest where that means something. Else an order still keeps off what it denies, while
 * a contrast was only part of the description ("can I use oil instead of butter") and changes nothing.
 */
export function recallWithout(
  denied: readonly DeniedText[],
  whole: RecallResult,
  rest: RecallResult | undefined,
): { readonly recall: RecallResult; readonly isOfRest: boolean } {
  const ordered = denied.filter(({ isOrder }) => isOrder);
  const best = (recall: RecallResult): number => recall.capabilities[0]?.relevance ?? 0;
  const ofRest = rest === undefined ? undefined : without(denied, rest);
  const least = ordered.length > 0 ? REST_COUNTS.afterOrder : REST_COUNTS.afterContrast;
  if (ofRest !== undefined && best(ofRest) >= least) return { recall: ofRest, isOfRest: true };
  return { recall: without(ordered, whole), isOfRest: false };
}

export function without(denied: readonly DeniedText[], recall: RecallResult): RecallResult {
  const names = new Set(denied.flatMap(({ capabilities }) => capabilities.map(({ name }) => name)));
  if (names.size === 0) return recall;
  return { ...recall, capabilities: recall.capabilities.filter(({ name }) => !names.has(name)) };
}
