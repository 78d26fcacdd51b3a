/**
 * What a registry knows of its own phrases, each asked of everything but the phrases of its fold: the ground on which
 * it learns what to ask of a capability and how to weigh its evidence. Costs one recall a phrase, about a millisecond.
 */
import { canonicalText } from '../../core/index.ts';
import type { ModelCalibration } from '../../embedding/index.ts';
import { Bm25Index } from '../../lexical-index/index.ts';
import { FlatIndex } from '../../vector-index/index.ts';
import type { IndexedCapability } from '../indexed-capability.ts';
import { SearchView } from '../search-view.ts';
import { type FoundField, findField } from './fusion.ts';
import { FOLDS, type PhraseHead } from './phrase-head.ts';

export interface HeldOutTask {
  /** All capabilities of one namespace. */
  readonly entries: readonly IndexedCapability[];
  readonly vectors: ReadonlyMap<string, Float32Array>;
  readonly calibration: ModelCalibration;
}

export interface HeldOutPhrase {
  /** Of the capability whose phrase it is. */
  readonly name: string;
  readonly fold: number;
  readonly field: FoundField;
}

const RECALL_K = 32;

/** `headOf`: of a fold, learnt without its phrases. */
export function askHeldOut(task: HeldOutTask, headOf: (fold: number) => PhraseHead | undefined): HeldOutPhrase[] {
  return Array.from({ length: FOLDS }, (_, fold) => askFold(task, fold, headOf(fold))).flat();
}

/** Asks the phrases of one fold of everything but them. */
function askFold(
  { entries, vectors, calibration }: HeldOutTask,
  fold: number,
  head: PhraseHead | undefined,
): HeldOutPhrase[] {
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
  if (space === undefined) return [];
  const sources = {
    capabilityCount: space.size,
    nearest: (query: Float32Array, topK: number) => view.search(namespace, query, topK),
    words: (text: string, topK: number) => space.searchWords(text, topK),
    similarities: (entry: IndexedCapability, query: Float32Array) => view.similarities(entry, query),
    head,
  };
  return asked.map(({ name, text, query }) => {
    const field = findField(sources, canonicalText(text), query, { calibration, recallK: RECALL_K });
    return { name, fold, field };
  });
}

function phrasesOf({ texts }: IndexedCapability): IndexedCapability['texts'] {
  return texts.filter(({ kind }) => kind === 'example' || kind === 'alias');
}

function without({ document }: IndexedCapability, held: ReadonlySet<string>): IndexedCapability['document'] {
  const left = (texts: readonly string[]): string[] => texts.filter((text) => !held.has(text));
  return { ...document, aliases: left(document.aliases), examples: left(document.examples) };
}
