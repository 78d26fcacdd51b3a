import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type CapabilityName, contentHash } from '../../src/core/index.ts';
import type { LexicalIndex } from '../../src/lexical-index/index.ts';
import type { IndexedCapability } from '../../src/routing/indexed-capability.ts';
import { SearchView } from '../../src/routing/search-view.ts';
import { LayeredIndex } from '../../src/vector-index/index.ts';
import { seededRandom, unit } from '../vector-index/sample-vectors.ts';

const DIMENSIONS = 4;
const QUERY = unit([1, 0, 0, 0]);
const NO_WORDS: LexicalIndex = { size: 0, upsert: () => {}, remove: () => false, search: () => [] };
/** Larger spaces are searched through the index that they share. */
const LARGE = 1_100;

/** A space of `texts` texts, four a capability, at most `spread` (0..1) away from the query. */
interface SpaceSketch {
  readonly namespace: string;
  readonly texts: number;
  readonly spread: number;
}

function viewOf(sketches: readonly SpaceSketch[], seed = 1) {
  const random = seededRandom(seed);
  const vectors = new LayeredIndex(DIMENSIONS);
  const view = new SearchView(vectors, () => NO_WORDS);
  for (const { namespace, texts, spread } of sketches) {
    for (let at = 0; at < texts; at += 4) {
      const name = `space.find.text_${at}` as CapabilityName;
      const entry = { namespace, name, texts: [] as IndexedCapability['texts'][number][] };
      for (let text = at; text < Math.min(texts, at + 4); text++) {
        const hash = contentHash(`${namespace} ${text}`);
        entry.texts.push({ kind: 'example', text: `${text}`, hash });
        const away = spread * (0.5 + random() / 2);
        vectors.upsert(hash, unit([1 - away, away * random(), away * random(), away]));
      }
      view.put({
        ...entry,
        sensitive: false,
        aliases: [],
        meaningHash: contentHash(name),
      } as unknown as IndexedCapability);
    }
  }
  return { view, vectors };
}

/** The nearest capabilities by holding every text against the query. */
function exactly(view: SearchView, namespace: string): { name: string; similarity: number }[] {
  return [...(view.space(namespace)?.entries() ?? [])]
    .map((entry) => ({ name: entry.name as string, similarity: view.nearestText(entry, QUERY)?.similarity ?? -1 }))
    .sort((a, b) => b.similarity - a.similarity);
}

describe('search of one namespace', () => {
  it('finds what a namespace holds beside another one that lies nearer with all of its texts', () => {
    const { view } = viewOf([
      { namespace: 'big', texts: 3_100, spread: 0.02 },
      { namespace: 'small', texts: 1_240, spread: 0.6 },
    ]);
    const hits = view.search('small', QUERY, 32);
    expect(hits.map(({ entry }) => entry.name)).toEqual(
      exactly(view, 'small')
        .slice(0, 32)
        .map(({ name }) => name),
    );
  });

  it('asks for no more neighbours than comparing the texts of the space would cost', () => {
    const { view, vectors } = viewOf([
      { namespace: 'big', texts: 3_100, spread: 0.02 },
      { namespace: 'small', texts: 1_240, spread: 0.6 },
    ]);
    const search = vi.spyOn(vectors, 'search');
    view.search('small', QUERY, 32);
    expect(search.mock.calls.map(([, topK]) => topK)).toEqual([32, 128, 512]);
    search.mockClear();
    view.search('big', QUERY, 32);
    expect(search.mock.calls.map(([, topK]) => topK)).toEqual([32]);
  });

  it('answers the best capability first, and no fewer texts than wanted while there are any, whatever lies beside', () => {
    const sketch = (namespace: string) =>
      fc.record({
        namespace: fc.constant(namespace),
        texts: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: LARGE, max: LARGE + 200 })),
        spread: fc.constantFrom(0.01, 0.1, 0.5, 0.9),
      });
    fc.assert(
      fc.property(
        fc.tuple(sketch('a'), sketch('b'), sketch('c')),
        fc.constantFrom(1, 5, 32),
        fc.nat(),
        (sketches, topK, seed) => {
          const { view } = viewOf(sketches, seed);
          for (const { namespace, texts } of sketches) {
            const hits = view.search(namespace, QUERY, topK);
            const found = hits.reduce((sum, { entry }) => sum + entry.texts.length, 0);
            expect(found).toBeGreaterThanOrEqual(Math.min(topK, texts));
            expect(hits[0]?.similarity).toBe(exactly(view, namespace)[0]?.similarity);
          }
        },
      ),
      { numRuns: 20 },
    );
  }, 30_000);
});
