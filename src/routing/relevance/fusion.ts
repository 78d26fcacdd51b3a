/**
 * Dense and lexical search -> capabilities with one relevance each, best first. The leaders of both searches are
 * judged by everything that is known of them; the rest cannot win and is left out. Pure over what it is given.
 */
import type { CapabilityName } from '../../core/index.ts';
import {
  fusedEvidence,
  lexicalStrength,
  type ModelCalibration,
  type RankingWeights,
  relevanceOf,
} from '../../embedding/index.ts';
import type { IndexedCapability } from '../indexed-capability.ts';
import type { RecalledCapability } from '../recall.ts';
import type { PhraseHead } from './phrase-head.ts';
import { type CapabilityEvidence, relevancesOf } from './relevance-model.ts';

/** One namespace, asked with one intent. */
export interface FusionSources {
  readonly capabilityCount: number;
  /** Nearest text of each of the nearest capabilities, best first. */
  nearest(query: Float32Array, topK: number): readonly DenseEvidence[];
  /** Best first. */
  words(canonical: string, topK: number): readonly LexicalEvidence[];
  /** Cosines of all texts of one capability, in their order; undefined where a vector is missing. */
  similarities(entry: IndexedCapability, query: Float32Array): readonly (number | undefined)[];
  readonly head?: PhraseHead | undefined;
  /** A capability by its identifier, where the intent may hold one. */
  named?(name: string): IndexedCapability | undefined;
}

export interface DenseEvidence {
  readonly entry: IndexedCapability;
  readonly similarity: number;
  readonly text: { readonly text: string };
}

export interface LexicalEvidence {
  readonly entry: IndexedCapability;
  readonly hit: { readonly score: number; readonly coverage: number };
}

export interface FoundCapability {
  readonly entry: IndexedCapability;
  similarity: number | null;
  text: string | null;
  lexicalScore: number;
  coverage: number;
  readonly isNamed: boolean;
  /** Of all its texts; looked up once, where it is needed. */
  similarities?: readonly (number | undefined)[];
}

/** Lexical hits without a vector hit whose similarity is looked up one by one. */
const MAX_LOOKUPS = 8;
/** Capabilities judged by every text that they have: 0.4 ms for ten texts each, most of a recall without a model. */
const MAX_JUDGED = 16;
const MEAN_OF = 3;

interface FuseOptions {
  readonly calibration: ModelCalibration;
  readonly recallK: number;
}

/** What the searches found of an intent, before any weights. */
export interface FoundField {
  readonly candidates: readonly FoundCapability[];
  /** Of the candidates, in their order; undefined where there are no fitted weights to judge it by. */
  readonly evidence: readonly CapabilityEvidence[] | undefined;
  readonly capabilityCount: number;
}

export function fuse(
  sources: FusionSources,
  canonical: string,
  query: Float32Array | undefined,
  options: FuseOptions,
): RecalledCapability[] {
  const field = findField(sources, canonical, query, options);
  const relevances = relevancesIn(field, options.calibration, sources.head?.ranking);
  return field.candidates
    .map((one, at) => recalled(one, relevances[at] ?? 0))
    .sort((a, b) => b.relevance - a.relevance || (a.name < b.name ? -1 : 1))
    .slice(0, options.recallK);
}

export function findField(
  sources: FusionSources,
  canonical: string,
  query: Float32Array | undefined,
  { calibration, recallK }: FuseOptions,
): FoundField {
  const { capabilityCount } = sources;
  const candidates = gather(sources, canonical, query, recallK);
  if (calibration.fitted === undefined || query === undefined)
    return { candidates, evidence: undefined, capabilityCount };
  const judged = leaders(candidates, calibration);
  return { candidates: judged, evidence: judged.map((one) => evidenceOf(one, sources, query)), capabilityCount };
}

/** One relevance for each candidate. `own`: ranking weights that the registry has learnt for itself. */
export function relevancesIn(
  { candidates, evidence, capabilityCount }: FoundField,
  calibration: ModelCalibration,
  own: RankingWeights | undefined,
): number[] {
  return calibration.fitted === undefined || evidence === undefined
    ? candidates.map((one) => relevanceOf(calibration, { ...one, capabilityCount }))
    : relevancesOf(calibration.fitted, evidence, capabilityCount, own);
}

/** What the searches found, once for each capability. */
export function gather(
  sources: FusionSources,
  canonical: string,
  query: Float32Array | undefined,
  recallK: number,
): FoundCapability[] {
  const found = new Map<IndexedCapability, FoundCapability>();
  const named = namedIn(sources, canonical);
  if (query !== undefined) {
    for (const { entry, similarity, text } of sources.nearest(query, recallK)) {
      const isNamed = named.includes(entry);
      found.set(entry, { entry, similarity, text: text.text, lexicalScore: 0, coverage: 0, isNamed });
    }
    for (const entry of named) {
      if (found.has(entry)) continue;
      const nearest = nearestOf(entry, sources.similarities(entry, query));
      found.set(entry, { entry, ...nearest, lexicalScore: 0, coverage: 0, isNamed: true });
    }
  }
  let lookups = 0;
  for (const { entry, hit } of sources.words(canonical, recallK)) {
    const words = { lexicalScore: hit.score, coverage: hit.coverage };
    const isNamed = named.includes(entry);
    const dense = found.get(entry);
    if (dense !== undefined) Object.assign(dense, words);
    else if (query === undefined) found.set(entry, { entry, similarity: null, text: null, ...words, isNamed });
    else if (lookups++ < MAX_LOOKUPS) {
      found.set(entry, { entry, ...nearestOf(entry, sources.similarities(entry, query)), ...words, isNamed });
    }
  }
  return [...found.values()];
}

const IDENTIFIERS = /(?<![\w.])[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){2}(?!\w|\.\w)/g;

/** Capabilities whose identifiers stand in the text. */
function namedIn({ named }: FusionSources, canonical: string): readonly IndexedCapability[] {
  if (named === undefined || !canonical.includes('.')) return [];
  return (canonical.match(IDENTIFIERS) ?? []).flatMap((name) => named(name) ?? []);
}

function nearestOf(
  entry: IndexedCapability,
  similarities: readonly (number | undefined)[],
): Pick<FoundCapability, 'similarity' | 'text' | 'similarities'> {
  let similarity: number | null = null;
  let text: string | null = null;
  for (let at = 0; at < similarities.length; at++) {
    const value = similarities[at];
    if (value === undefined || (similarity !== null && value <= similarity)) continue;
    similarity = value;
    text = entry.texts[at]?.text ?? null;
  }
  return { similarity, text, similarities };
}

/** Named ones, then by the plain weighted sum; equal ones by name, so that the order of registration changes nothing. */
export function leaders(
  candidates: readonly FoundCapability[],
  { lexicalWeight }: ModelCalibration,
): FoundCapability[] {
  return candidates
    .map((one) => ({
      one,
      strength: fusedEvidence(lexicalWeight, one.similarity ?? 0, lexicalStrength(one.lexicalScore)),
    }))
    .sort(
      (a, b) =>
        Number(b.one.isNamed) - Number(a.one.isNamed) ||
        b.strength - a.strength ||
        (a.one.entry.name < b.one.entry.name ? -1 : 1),
    )
    .slice(0, MAX_JUDGED)
    .map(({ one }) => one);
}

export function evidenceOf(one: FoundCapability, sources: FusionSources, query: Float32Array): CapabilityEvidence {
  const similarities = one.similarities ?? sources.similarities(one.entry, query);
  const best = one.similarity ?? 0;
  let name: number | undefined;
  let description: number | undefined;
  let descriptionCount = 0;
  const phrases: number[] = [];
  for (let at = 0; at < similarities.length; at++) {
    const similarity = similarities[at];
    const kind = one.entry.texts[at]?.kind;
    if (similarity === undefined || kind === undefined) continue;
    if (kind === 'name') name = Math.max(similarity, name ?? similarity);
    else if (kind === 'description') {
      descriptionCount++;
      description = Math.max(similarity, description ?? similarity);
    } else phrases.push(similarity);
  }
  const top = phrases.length > MEAN_OF ? phrases.toSorted((a, b) => b - a).slice(0, MEAN_OF) : phrases;
  return {
    best,
    name: name ?? best,
    description: description ?? name ?? best,
    phrase: top.length === 0 ? best : Math.max(...top),
    phraseMean: top.length === 0 ? best : top.reduce((sum, value) => sum + value, 0) / top.length,
    phraseCount: phrases.length,
    descriptionCount,
    lexicalScore: one.lexicalScore,
    coverage: one.coverage,
    headLogit: sources.head?.logit(one.entry.name, query),
    isNamed: one.isNamed,
  };
}

function recalled(one: FoundCapability, relevance: number): RecalledCapability {
  return {
    name: one.entry.name as CapabilityName,
    sensitive: one.entry.sensitive,
    relevance,
    similarity: one.similarity,
    lexicalScore: one.lexicalScore,
    nearestText: one.text,
  };
}
