/** Capabilities as the service holds them (words, vectors, a head where phrases allow), asked through its own code. */

import { type CapabilityName, contentHash } from '../../src/core/index.ts';
import type { ModelCalibration } from '../../src/embedding/index.ts';
import { Bm25Index, type LexicalDocument } from '../../src/lexical-index/index.ts';
import { CapabilitySpace } from '../../src/routing/capability-space.ts';
import { type IndexedCapability, indexedCapability } from '../../src/routing/indexed-capability.ts';
import { evidenceOf, type FusionSources, gather, leaders } from '../../src/routing/relevance/fusion.ts';
import {
  crossValidate,
  MIN_PHRASES,
  type PhraseClass,
  PhraseHead,
  trainPhraseHead,
} from '../../src/routing/relevance/phrase-head.ts';
import type { CapabilityEvidence } from '../../src/routing/relevance/relevance-model.ts';
import { FlatIndex } from '../../src/vector-index/index.ts';
import type { VectorOf } from './vector-cache.ts';

const RECALL_K = 32;

export interface JudgedEvidence {
  readonly names: readonly string[];
  readonly evidence: readonly CapabilityEvidence[];
}

export class TrialRegistry {
  readonly sources: FusionSources;
  readonly size: number;
  readonly #vectorOf: VectorOf;
  readonly #classes: readonly PhraseClass[];

  constructor(documents: readonly LexicalDocument[], vectorOf: VectorOf, dimensions: number) {
    const entries = new Map(documents.map((document) => [document.id, entryOf(document)]));
    const space = new CapabilitySpace(new Bm25Index());
    const flat = new FlatIndex(dimensions);
    for (const entry of entries.values()) {
      space.put(entry);
      for (const [at, { text }] of entry.texts.entries()) flat.upsert(`${at}\n${entry.name}`, vectorOf(text));
    }
    const similarities = (entry: IndexedCapability, query: Float32Array) =>
      entry.texts.map((_, at) => flat.similarityOf(`${at}\n${entry.name}`, query));
    const hitOf = (id: string, similarity: number) => {
      const [at = '', name = ''] = id.split('\n');
      const entry = entries.get(name);
      const text = entry?.texts[Number(at)];
      return entry === undefined || text === undefined ? [] : [{ entry, similarity, text }];
    };
    this.size = entries.size;
    this.#vectorOf = vectorOf;
    this.#classes = [...entries.values()].flatMap((entry) => classOf(entry, vectorOf));
    this.sources = {
      capabilityCount: entries.size,
      nearest: (query, topK) => {
        const hits = flat.search(query, topK).flatMap(({ id, similarity }) => hitOf(id, similarity));
        return hits.filter((hit, at) => hits.findIndex(({ entry }) => entry === hit.entry) === at);
      },
      words: (canonical, topK) => space.searchWords(canonical, topK),
      similarities,
    };
  }

  get hasPhrases(): boolean {
    return this.#classes.length > 1;
  }

  trainHead(): PhraseHead | undefined {
    const weights = this.hasPhrases ? trainPhraseHead(this.#classes) : undefined;
    return weights === undefined ? undefined : new PhraseHead(weights);
  }

  /** As the service does: none unless it wins on phrases that it has not seen. */
  trainWinningHead(): PhraseHead | undefined {
    if (!this.hasPhrases) return undefined;
    const score = crossValidate(this.#classes);
    return score.head > score.nearest ? this.trainHead() : undefined;
  }

  judged(canonical: string, text: string, calibration: ModelCalibration, head: PhraseHead | undefined): JudgedEvidence {
    const query = this.#vectorOf(text);
    const sources = { ...this.sources, head };
    const led = leaders(gather(sources, canonical, query, RECALL_K), calibration);
    return { names: led.map(({ entry }) => entry.name), evidence: led.map((one) => evidenceOf(one, sources, query)) };
  }
}

export function textsOfDocument(document: LexicalDocument): string[] {
  return [document.name, ...document.descriptions, ...document.aliases, ...document.examples];
}

function entryOf(document: LexicalDocument): IndexedCapability {
  const { aliases, descriptions, examples } = document;
  const name = document.id as CapabilityName;
  const base = indexedCapability({ namespace: 'default', name, descriptions, aliases, examples, sensitive: false });
  const texts = base.texts.map((one) => {
    const text = one.kind === 'name' ? document.name : one.text;
    return { ...one, text, hash: contentHash(text) };
  });
  return { ...base, texts, document };
}

function classOf(entry: IndexedCapability, vectorOf: VectorOf): PhraseClass[] {
  const of = (...kinds: readonly string[]): Float32Array[] =>
    entry.texts.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => vectorOf(text));
  const phrases = of('example', 'alias');
  return phrases.length < MIN_PHRASES ? [] : [{ name: entry.name, phrases, anchors: of('name', 'description') }];
}
