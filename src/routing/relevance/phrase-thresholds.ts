/**
 * How relevant an intent must be before a capability with phrases is answered: learnt from its phrases, each asked of
 * a registry that has not seen it. One whose phrases all come back surely asks for more than `minRelevance`, so that
 * strangers are refused; one whose phrases come back weakly asks for less, where that lets no phrase of another in.
 * Pure; costs one recall a phrase, about a millisecond.
 */
import { canonicalText } from '../../core/index.ts';
import type { ModelCalibration } from '../../embedding/index.ts';
import { Bm25Index } from '../../lexical-index/index.ts';
import { FlatIndex } from '../../vector-index/index.ts';
import { USUAL_MIN_RELEVANCE } from '../gate.ts';
import type { IndexedCapability } from '../indexed-capability.ts';
import { SearchView } from '../search-view.ts';
import { fuse } from './fusion.ts';
import { FOLDS, type PhraseHead } from './phrase-head.ts';

export interface ThresholdTask {
  /** All capabilities of one namespace. */
  readonly entries: readonly IndexedCapability[];
  readonly vectors: ReadonlyMap<string, Float32Array>;
  readonly calibration: ModelCalibration;
}

/** Relevances with which held-out phrases came back, by the capability that came back. */
export interface HeldOutRelevances {
  readonly own: number[];
  readonly foreign: number[];
}

/** What is learnt is a multiple of the usual minimum. */
const LEAST = (2 / 3) * USUAL_MIN_RELEVANCE;
const MOST = (5 / 3) * USUAL_MIN_RELEVANCE;
/** Of the least relevance of its own phrases: callers say it in other words than the phrases. */
const ALLOWANCE = 0.7;
const MIN_OWN = 4;
const RECALL_K = 32;

/** Multiples of `minRelevance` by name; absent: as it is. `headOf`: of the fold, learnt without its phrases. */
export function learnThresholds(
  task: ThresholdTask,
  headOf: (fold: number) => PhraseHead | undefined,
): Record<string, number> {
  const found = new Map<string, HeldOutRelevances>();
  for (let fold = 0; fold < FOLDS; fold++) askFold(task, fold, headOf(fold), found);
  return Object.fromEntries(
    [...found].flatMap(([name, relevances]) => {
      const factor = thresholdFactor(relevances);
      return factor === 1 ? [] : [[name, factor]];
    }),
  );
}

export function thresholdFactor({ own, foreign }: HeldOutRelevances): number {
  if (own.length < MIN_OWN) return 1;
  const least = Math.min(...own);
  if (least < USUAL_MIN_RELEVANCE) {
    const lowered = Math.max(LEAST, least);
    return foreign.some((one) => one >= lowered && one < USUAL_MIN_RELEVANCE) ? 1 : lowered / USUAL_MIN_RELEVANCE;
  }
  return Math.max(1, Math.min(MOST, ALLOWANCE * least) / USUAL_MIN_RELEVANCE);
}

/** Asks the phrases of one fold of everything but them. */
function askFold(
  { entries, vectors, calibration }: ThresholdTask,
  fold: number,
  head: PhraseHead | undefined,
  found: Map<string, HeldOutRelevances>,
): void {
  const namespace = entries[0]?.namespace ?? '';
  const flat = new FlatIndex([...vectors.values()][0]?.length ?? 0);
  const view = new SearchView(flat, () => new Bm25Index());
  const asked: { readonly name: string; readonly text: string; readonly query: Float32Array }[] = [];
  for (const entry of entries) {
    const held = new Set<string>();
    for (const [at, { text, hash }] of phrasesOf(entry).entries()) {
      const query = vectors.get(hash);
      if (at % FOLDS !== fold || query === undefined) continue;
      held.add(text);
      asked.push({ name: entry.name, text, query });
    }
    const kept = { ...entry, texts: entry.texts.filter(({ text }) => !held.has(text)), document: without(entry, held) };
    for (const { hash } of kept.texts) {
      const vector = vectors.get(hash);
      if (vector !== undefined) flat.upsert(hash, vector);
    }
    view.put(kept);
  }
  const space = view.space(namespace);
  if (space === undefined) return;
  const sources = {
    capabilityCount: space.size,
    nearest: (query: Float32Array, topK: number) => view.search(namespace, query, topK),
    words: (text: string, topK: number) => space.searchWords(text, topK),
    similarities: (entry: IndexedCapability, query: Float32Array) => view.similarities(entry, query),
    head,
  };
  for (const { name, text, query } of asked) {
    const [best] = fuse(sources, canonicalText(text), query, { calibration, recallK: RECALL_K });
    if (best === undefined) continue;
    const of = found.get(best.name) ?? { own: [], foreign: [] };
    found.set(best.name, of);
    (best.name === name ? of.own : of.foreign).push(best.relevance);
  }
}

function phrasesOf({ texts }: IndexedCapability): IndexedCapability['texts'] {
  return texts.filter(({ kind }) => kind === 'example' || kind === 'alias');
}

function without({ document }: IndexedCapability, held: ReadonlySet<string>): IndexedCapability['document'] {
  const left = (texts: readonly string[]): string[] => texts.filter((text) => !held.has(text));
  return { ...document, aliases: left(document.aliases), examples: left(document.examples) };
}
