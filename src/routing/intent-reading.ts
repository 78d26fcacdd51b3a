/**
 * A text -> what it could mean, read as people write: without what it asks not to be done, and as several intents
 * where it holds several. A plain text costs one recall; what is denied and the parts of a request cost the model one
 * batch of short texts more, never anything where there is no place to cut.
 */
import { capabilitiesDenied, type DeniedText, negationOf, recallWithout, without } from './intent-negation.ts';
import { piecesOf } from './intent-pieces.ts';
import { type IntentPart, spansOf, surestSplit } from './intent-split.ts';
import type { RecallResult } from './recall.ts';

export interface IntentReading {
  /** Of what is asked for. */
  readonly recall: RecallResult;
  /** The text that was searched: all of it, or what is left without what is denied. */
  readonly asked: string;
  readonly denied: readonly DeniedText[];
  /** Several intents, in their order; empty where it is one. */
  readonly parts: readonly IntentPart[];
  /** False where the model could not be asked for all of it: asked again, it may read otherwise. */
  readonly isWhole: boolean;
}

type Recall = (text: string) => Promise<RecallResult>;

export async function readIntent(
  canonical: string,
  recall: Recall,
  options: { readonly multiIntent: boolean },
): Promise<IntentReading> {
  const negation = negationOf(canonical);
  if (negation === undefined) {
    const whole = await recall(canonical);
    return readParts({ recall: whole, asked: canonical, denied: [] }, recall, options);
  }
  const { rest } = negation;
  // Asked in one turn, so that the model takes them in one batch.
  const [whole, restRecall, ...ofDenied] = await Promise.all([
    recall(canonical),
    rest === null ? undefined : recall(rest),
    ...negation.denied.map(({ text }) => recall(text)),
  ]);
  const denied = negation.denied.map((one, at) => {
    const recalled = ofDenied[at];
    return { ...one, capabilities: recalled === undefined ? [] : capabilitiesDenied(recalled, whole) };
  });
  const isWhole = [whole, restRecall, ...ofDenied].every((one) => one === undefined || one.degradedReason === null);
  const left = recallWithout(denied, whole, restRecall);
  const isNothing = denied.every(({ capabilities }) => capabilities.length === 0);
  if (isNothing || !left.isOfRest || rest === null) {
    return { recall: isNothing ? whole : left.recall, asked: canonical, denied, parts: [], isWhole };
  }
  const recallLeft: Recall = async (text) => without(denied, await recall(text));
  const read = await readParts({ recall: left.recall, asked: rest, denied }, recallLeft, options);
  return { ...read, isWhole: read.isWhole && isWhole };
}

async function readParts(
  read: Omit<IntentReading, 'parts' | 'isWhole'>,
  recall: Recall,
  { multiIntent }: { readonly multiIntent: boolean },
): Promise<IntentReading> {
  const one: IntentReading = { ...read, parts: [], isWhole: read.recall.degradedReason === null };
  // Words alone say too little of a part.
  if (!multiIntent || read.recall.matchedBy === 'lexical' || read.recall.capabilities.length < 2) return one;
  const pieces = piecesOf(read.asked);
  if (pieces.length < 2) return one;
  const spans = spansOf(read.asked, pieces);
  const recalled = await Promise.all(spans.map(({ text }) => recall(text)));
  if (recalled.some(({ matchedBy }) => matchedBy === 'lexical')) return { ...one, isWhole: false };
  const found = spans.flatMap((span, at) => {
    const ofSpan = recalled[at];
    return ofSpan === undefined ? [] : [{ ...span, recall: ofSpan }];
  });
  return { ...one, parts: surestSplit(read.recall, found) ?? [] };
}
