import { describe, expect, it } from 'vitest';
import type { CapabilityName } from '../../../src/core/index.ts';
import { DEFAULT_MODEL_ID, loadCalibration, modelById } from '../../../src/embedding/index.ts';
import { Bm25Index } from '../../../src/lexical-index/index.ts';
import { type IndexedCapability, indexedCapability } from '../../../src/routing/indexed-capability.ts';
import { evidenceOf, type FusionSources, fuse, gather } from '../../../src/routing/relevance/fusion.ts';
import { SearchView } from '../../../src/routing/search-view.ts';
import { FlatIndex } from '../../../src/vector-index/index.ts';

/** Unit vectors of two dimensions: the cosine to the query (1, 0) is chosen text by text. */
const towards = (cosine: number): Float32Array => Float32Array.of(cosine, Math.sqrt(1 - cosine * cosine));
const QUERY = towards(1);

function capability(
  name: string,
  descriptions: readonly string[],
  examples: readonly string[] = [],
): IndexedCapability {
  const meaning = {
    namespace: 'default',
    name: name as CapabilityName,
    descriptions,
    aliases: [],
    examples,
    sensitive: false,
  };
  return indexedCapability(meaning);
}

function sourcesOf(cosines: ReadonlyMap<IndexedCapability, readonly number[]>): FusionSources & { looked: string[] } {
  const vectors = new FlatIndex(2);
  const view = new SearchView(vectors, () => new Bm25Index());
  for (const [entry, ofTexts] of cosines) {
    view.put(entry);
    for (const [at, { hash }] of entry.texts.entries()) {
      const cosine = ofTexts[at];
      if (cosine !== undefined) vectors.upsert(hash, towards(cosine));
    }
  }
  const looked: string[] = [];
  return {
    looked,
    capabilityCount: cosines.size,
    nearest: (query, topK) => view.search('default', query, topK),
    words: (canonical, topK) => view.space('default')?.searchWords(canonical, topK) ?? [],
    similarities: (entry, query) => {
      looked.push(entry.name);
      return view.similarities(entry, query);
    },
  };
}

const mail = capability(
  'mail.send.message',
  ['Send an email'],
  ['write to Anna', 'mail the report', 'post a letter', 'x'],
);
const weather = capability('weather.query.city', ['Weather forecast for a city']);
const parcel = capability('parcel.track.shipment', ['Track a parcel']);

describe('evidenceOf', () => {
  it('keeps the best of each kind of text, and the mean of the three nearest phrases', () => {
    const sources = sourcesOf(new Map([[mail, [0.1, 0.4, 0.9, 0.6, 0.3, 0.2]]]));
    const [candidate] = gather(sources, 'anything', QUERY, 32);
    if (candidate === undefined) throw new Error('nothing was found');
    const evidence = evidenceOf(candidate, sources, QUERY);
    expect(evidence.best).toBeCloseTo(0.9);
    expect(evidence.name).toBeCloseTo(0.1);
    expect(evidence.description).toBeCloseTo(0.4);
    expect(evidence.phrase).toBeCloseTo(0.9);
    expect(evidence.phraseMean).toBeCloseTo(0.6);
    expect(evidence).toMatchObject({ phraseCount: 4, descriptionCount: 1, headLogit: undefined });
  });

  it('takes the name for a description that is not there, and the best for phrases', () => {
    const bare = capability('parcel.track.shipment', []);
    const sources = sourcesOf(new Map([[bare, [0.7]]]));
    const [candidate] = gather(sources, 'anything', QUERY, 32);
    if (candidate === undefined) throw new Error('nothing was found');
    const { name, description, phrase, phraseMean } = evidenceOf(candidate, sources, QUERY);
    for (const value of [name, description, phrase, phraseMean]) expect(value).toBeCloseTo(0.7);
  });
});

describe('an intent that holds an identifier', () => {
  it('is of the capability that it names, however near others are', async () => {
    const { calibration } = await loadCalibration(modelById(DEFAULT_MODEL_ID));
    const entries = [capability('mail.send.message', []), capability('weather.query.city', [])] as const;
    const found = (text: string) => {
      const sources = sourcesOf(
        new Map([
          [entries[0], [0.8]],
          [entries[1], [0.1]],
        ]),
      );
      const named = (name: string) => entries.find((entry) => entry.name === name);
      return fuse({ ...sources, named }, text, QUERY, { calibration, recallK: 1 })[0]?.name;
    };
    expect(found('the city of oslo')).toBe('mail.send.message');
    expect(found('please call weather.query.city for oslo')).toBe('weather.query.city');
    expect(found('运行weather.query.city。')).toBe('weather.query.city');
    expect(found('not.weather.query.city or weather.query.city.now')).toBe('mail.send.message');
  });
});

describe('fuse', () => {
  it('looks similarities up once, for a capability that words alone found too', async () => {
    const { calibration } = await loadCalibration(modelById(DEFAULT_MODEL_ID));
    const sources = sourcesOf(
      new Map([
        [mail, [0.1, 0.2, 0.2, 0.2, 0.2, 0.2]],
        [weather, [0.9, 0.9]],
        [parcel, [0.8, 0.8]],
      ]),
    );
    const narrow = { ...sources, nearest: (query: Float32Array) => sources.nearest(query, 32).slice(0, 1) };
    const found = fuse(narrow, 'send an email', QUERY, { calibration, recallK: 32 });
    expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining([mail.name, weather.name]));
    expect(sources.looked.toSorted()).toEqual([mail.name, weather.name]);
    expect(found.find(({ name }) => name === mail.name)).toMatchObject({ nearestText: expect.any(String) });
  });

  it('answers by words alone without a vector', async () => {
    const { calibration } = await loadCalibration(modelById(DEFAULT_MODEL_ID));
    const sources = sourcesOf(
      new Map([
        [mail, []],
        [weather, []],
      ]),
    );
    const [best] = fuse(sources, 'send an email', undefined, { calibration, recallK: 32 });
    expect(best).toMatchObject({ name: mail.name, similarity: null });
    expect(sources.looked).toEqual([]);
  });
});
