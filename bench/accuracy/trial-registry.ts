/** Capabilities as the service holds them (words, vectors, a head where phrases allow), asked through its own code. */

import { type CapabilityName, canonicalText, contentHash, foldChinese } from '../../src/core/index.ts';
import type { ModelCalibration } from '../../src/embedding/index.ts';
import { Bm25Index, type LexicalDocument } from '../../src/lexical-index/index.ts';
import { embeddedForm, type IndexedCapability, indexedCapability } from '../../src/routing/indexed-capability.ts';
import { evidenceOf, type FusionSources, gather, leaders } from '../../src/routing/relevance/fusion.ts';
import { MIN_PHRASES, type PhraseClass, PhraseHead, trainPhraseHead } from '../../src/routing/relevance/phrase-head.ts';
import type { HeadSource } from '../../src/routing/relevance/phrase-heads.ts';
import { learnFromPhrases } from '../../src/routing/relevance/phrase-learning.ts';
import type { CapabilityEvidence } from '../../src/routing/relevance/relevance-model.ts';
import { SearchView } from '../../src/routing/search-view.ts';
import { FlatIndex } from '../../src/vector-index/index.ts';
import type { VectorOf } from './vector-cache.ts';

export const NAMESPACE = 'default';
const RECALL_K = 32;

export interface JudgedEvidence {
  readonly names: readonly string[];
  readonly evidence: readonly CapabilityEvidence[];
}

export interface Learnt {
  readonly head?: PhraseHead | undefined;
  /** Multiples of `minRelevance` by capability. */
  readonly thresholds?: Readonly<Record<string, number>> | undefined;
}

/** What the model is given of a question, as the service's recall does. */
export function queryForm(text: string): string {
  return foldChinese(canonicalText(text));
}

export class TrialRegistry {
  readonly sources: FusionSources;
  readonly size: number;
  readonly #vectorOf: VectorOf;
  readonly #entries: readonly IndexedCapability[];
  readonly #classes: readonly PhraseClass[];
  readonly #flat: FlatIndex;
  readonly #view: SearchView;

  constructor(documents: readonly LexicalDocument[], vectorOf: VectorOf, dimensions: number) {
    this.#entries = [...new Map(documents.map((document) => [document.id, entryOf(document)])).values()];
    this.#vectorOf = vectorOf;
    this.#flat = new FlatIndex(dimensions);
    const view = new SearchView(this.#flat, () => new Bm25Index());
    this.#view = view;
    for (const entry of this.#entries) {
      for (const { hash, text } of entry.texts) this.#flat.upsert(hash, vectorOf(embeddedForm(text)));
      view.put(entry);
    }
    this.size = this.#entries.length;
    this.#classes = this.#entries.flatMap((entry) => classOf(entry, vectorOf));
    this.sources = {
      capabilityCount: this.size,
      nearest: (query, topK) => view.search(NAMESPACE, query, topK),
      words: (canonical, topK) => view.space(NAMESPACE)?.searchWords(canonical, topK) ?? [],
      similarities: (entry, query) => view.similarities(entry, query),
    };
  }

  get hasPhrases(): boolean {
    return this.#classes.length > 1;
  }

  trainHead(): PhraseHead | undefined {
    const weights = this.hasPhrases ? trainPhraseHead(this.#classes) : undefined;
    return weights === undefined ? undefined : new PhraseHead(weights);
  }

  /** As the service does. */
  learn(calibration: ModelCalibration): Learnt {
    if (!this.hasPhrases) return {};
    const vectors = new Map(
      this.#entries.flatMap(({ texts }) =>
        texts.map(({ hash, text }) => [hash as string, this.#vectorOf(embeddedForm(text))] as const),
      ),
    );
    const registry = { entries: this.#entries, vectors, calibration };
    const { weights, thresholds } = learnFromPhrases({ classes: this.#classes, registry });
    return { head: weights === undefined ? undefined : new PhraseHead(weights), thresholds };
  }

  /** What a route of the service is asked of. */
  viewWith({ head, thresholds }: Learnt): SearchView {
    const heads: HeadSource = { headFor: () => head, thresholdOf: (_, name) => thresholds?.[name] ?? 1 };
    return this.#view.over(this.#flat, heads);
  }

  judged(text: string, calibration: ModelCalibration, head: PhraseHead | undefined): JudgedEvidence {
    const query = this.#vectorOf(queryForm(text));
    const sources = { ...this.sources, head };
    const led = leaders(gather(sources, canonicalText(text), query, RECALL_K), calibration);
    return { names: led.map(({ entry }) => entry.name), evidence: led.map((one) => evidenceOf(one, sources, query)) };
  }
}

/** As the model is given them. */
export function textsOfDocument(document: LexicalDocument): string[] {
  return [document.name, ...document.descriptions, ...document.aliases, ...document.examples].map(embeddedForm);
}

/** Under the name that the document has as words; ids of public sets are none of ours. */
function entryOf(document: LexicalDocument): IndexedCapability {
  const { aliases, descriptions, examples } = document;
  const name = document.id as CapabilityName;
  const base = indexedCapability({ namespace: NAMESPACE, name, descriptions, aliases, examples, sensitive: false });
  const named = base.texts.map((one) => {
    const text = one.kind === 'name' ? document.name : one.text;
    return { ...one, text, hash: contentHash(embeddedForm(text)) };
  });
  const texts = named.filter(({ hash }, at) => named.findIndex((one) => one.hash === hash) === at);
  return { ...base, texts, document };
}

function classOf(entry: IndexedCapability, vectorOf: VectorOf): PhraseClass[] {
  const of = (...kinds: readonly string[]): Float32Array[] =>
    entry.texts.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => vectorOf(embeddedForm(text)));
  const phrases = of('example', 'alias');
  return phrases.length < MIN_PHRASES ? [] : [{ name: entry.name, phrases, anchors: of('name', 'description') }];
}
