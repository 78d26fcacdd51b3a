/**
 * Asks queries of registries of several sizes drawn from a set, since the number of competitors changes the best
 * score, and keeps what the two searches said of the leading capabilities.
 */
import { Bm25Index, type LexicalDocument } from '../../src/lexical-index/index.ts';
import { type LabelledQuery, type RoutingSet, seededRandom, shuffled } from './routing-sets.ts';

export interface TrialCandidate {
  readonly similarity: number;
  readonly coverage: number;
  readonly score: number;
  readonly isRight: boolean;
}

export interface Trial {
  readonly set: string;
  readonly languages: string;
  readonly registrySize: number;
  /** False: the registry has nothing for this query. */
  readonly isServed: boolean;
  readonly candidates: readonly TrialCandidate[];
}

export type VectorOf = (text: string) => Float32Array;

/** Leaders kept of each search; a capability outside both lists cannot win under any weight tried here. */
const KEPT = 12;
const SERVED_PER_REGISTRY = 60;
const UNSERVED_PER_REGISTRY = 30;

export function textsOf(set: RoutingSet): string[] {
  return [...set.queries.map((query) => query.text), ...set.capabilities.flatMap(embeddedTexts)];
}

export function embeddedTexts(document: LexicalDocument): string[] {
  return [document.name, ...document.descriptions, ...document.examples];
}

export function runTrials(set: RoutingSet, vectorOf: VectorOf): Trial[] {
  const random = seededRandom(set.name.length * 1000 + set.capabilities.length);
  return set.sizes.flatMap((size) => {
    const rounds = size <= 7 ? 24 : size <= 20 ? 14 : size <= 100 ? 6 : 4;
    return Array.from({ length: rounds }, () => askRegistry(set, size, vectorOf, random)).flat();
  });
}

function askRegistry(set: RoutingSet, size: number, vectorOf: VectorOf, random: () => number): Trial[] {
  const queries = shuffled(set.queries, random);
  const chosen = chooseCapabilities(set, queries, size, random);
  const known = new Set(chosen.map(({ id }) => id));
  const served = queries.filter(({ rightIds }) => rightIds.some((id) => known.has(id)));
  const unserved = queries.filter(({ rightIds }) => !rightIds.some((id) => known.has(id)));
  const index = new Bm25Index();
  for (const document of chosen) index.upsert(document);
  const vectors = chosen.map((document) => embeddedTexts(document).map(vectorOf));
  return [...served.slice(0, SERVED_PER_REGISTRY), ...unserved.slice(0, UNSERVED_PER_REGISTRY)].map((query) => ({
    set: set.name,
    languages: set.languages,
    registrySize: size,
    isServed: query.rightIds.some((id) => known.has(id)),
    candidates: askAll(query, chosen, vectors, index, vectorOf(query.text)),
  }));
}

/** Filled with what the first queries need, then with any; a quarter stays out, so that some queries go unserved. */
export function chooseCapabilities(
  set: RoutingSet,
  queries: readonly LabelledQuery[],
  size: number,
  random: () => number,
): LexicalDocument[] {
  const all = shuffled(set.capabilities, random);
  const hiddenCount = Math.min(all.length - size, Math.floor(all.length / 4));
  const byId = new Map(all.slice(Math.max(0, hiddenCount)).map((document) => [document.id, document]));
  const chosen = new Map<string, LexicalDocument>();
  for (const id of [...queries.flatMap(({ rightIds }) => rightIds.slice(0, 1)), ...byId.keys()]) {
    const document = byId.get(id);
    if (document !== undefined && chosen.size < size) chosen.set(id, document);
  }
  return [...chosen.values()];
}

function askAll(
  query: LabelledQuery,
  documents: readonly LexicalDocument[],
  vectors: readonly (readonly Float32Array[])[],
  index: Bm25Index,
  asked: Float32Array,
): TrialCandidate[] {
  const lexical = new Map(index.search(query.text, documents.length).map((hit) => [hit.id, hit]));
  const all = documents.map((document, at) => ({
    similarity: Math.max(...(vectors[at] ?? []).map((vector) => dot(asked, vector))),
    coverage: lexical.get(document.id)?.coverage ?? 0,
    score: lexical.get(document.id)?.score ?? 0,
    isRight: query.rightIds.includes(document.id),
  }));
  const leaders = new Set<TrialCandidate>();
  for (const key of ['similarity', 'coverage', 'score'] as const) {
    for (const one of [...all].sort((left, right) => right[key] - left[key]).slice(0, KEPT)) leaders.add(one);
  }
  return [...leaders];
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at += 1) sum += (left[at] ?? 0) * (right[at] ?? 0);
  return sum;
}
