/** What a graph does worst: a catalogue that came in sorted, of which much was withdrawn again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { Bm25Index } from '../../src/lexical-index/index.ts';
import { CapabilityIndexer } from '../../src/routing/index.ts';
import { indexedCapability } from '../../src/routing/indexed-capability.ts';
import { KeyValueVectorStore, MemoryStore } from '../../src/storage/index.ts';
import { FlatIndex, IndexBuilder, LayeredIndex } from '../../src/vector-index/index.ts';
import { clusteredRows, randomUnit, rowOf, seededRandom, unit } from '../vector-index/sample-vectors.ts';
import { meaningsOf } from './index-rig.ts';

const COUNT = 5_000;
const DOMAINS = 50;
const DIMENSIONS = 64;
const QUERIES = 200;
const PER_DOMAIN = COUNT / DOMAINS;

const capabilities = Array.from({ length: COUNT }, (_, i) => ({
  name: `domain_${String.fromCharCode(97 + Math.floor(i / PER_DOMAIN / 26), 97 + (Math.floor(i / PER_DOMAIN) % 26))}.find.thing_${i}`,
}));
/** In the order of the names: one cluster a domain. */
const rows = clusteredRows(COUNT, DIMENSIONS, DOMAINS, 11);
const random = seededRandom(5);
const removed = new Set(capabilities.filter(() => random() < 0.4).map(({ name }) => name));
/** Near what is there, the removed ones included, and not the same as any. */
const queries = Array.from({ length: QUERIES }, () => {
  const noise = randomUnit(DIMENSIONS, random);
  const near = rowOf(rows, Math.floor(random() * COUNT));
  return unit(Array.from(near, (value, j) => value + 0.4 * (noise[j] ?? 0)));
});
/** Scans what is left, apart from all that is tested here. */
const exact = new FlatIndex(DIMENSIONS);

let dir: string;
let builder: IndexBuilder;
let indexer: CapabilityIndexer;
let vectors: LayeredIndex;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agent-reach-removal-'));
  builder = new IndexBuilder({ dir });
  const embedder = new HashEmbedder({ dimensions: DIMENSIONS });
  await embedder.start();
  const vectorStore = new KeyValueVectorStore(new MemoryStore());
  const meanings = meaningsOf(capabilities);
  const made = meanings.map((meaning, i) => [indexedCapability(meaning).texts[0]?.hash, rowOf(rows, i)] as const);
  const stored = new Map(made.flatMap(([hash, vector]) => (hash === undefined ? [] : [[hash, vector] as const])));
  await vectorStore.putMany(embedder.info.fingerprint, stored);
  vectors = new LayeredIndex(DIMENSIONS);
  const createLexicalIndex = () => new Bm25Index();
  const clock = new ManualClock();
  indexer = new CapabilityIndexer({
    clock,
    embedder,
    vectorStore,
    vectors,
    createLexicalIndex,
    nearDuplicateSimilarity: 0.93,
  });
  indexer.apply(meanings);
  await indexer.start();
  expect(embedder.embeddedTexts).toBe(0);
  await build();
  for (const [i, { name }] of capabilities.entries()) {
    if (removed.has(name)) indexer.remove('default', name);
    else exact.upsert(name, rowOf(rows, i));
  }
  indexer.dropUnowned();
});
afterAll(async () => {
  indexer.stop();
  await builder.stop();
  await rm(dir, { recursive: true, force: true });
});

async function build(): Promise<void> {
  const { rows: input, catalogue } = await indexer.buildInput();
  const about = { modelId: 'made', fingerprint: 'f', by: 'test', why: 'test', embedded: 0, reused: 0, removed: 0 };
  let index: LayeredIndex | undefined;
  const info = await builder.build({
    rows: input,
    kind: 'hnsw',
    catalogue,
    about,
    approve: async (loaded) => {
      index = vectors.withBase(loaded);
      vectors.swapBase(loaded);
      return {};
    },
  });
  expect(info.kind).toBe('hnsw');
  expect(index?.deltaSize).toBe(0);
}

function measure(): { recall: number; answeredRemoved: string[] } {
  let found = 0;
  const answeredRemoved: string[] = [];
  for (const query of queries) {
    const names = indexer.search('default', query, 10).map(({ entry }) => entry.name as string);
    answeredRemoved.push(...names.filter((name) => removed.has(name)));
    const right = new Set(exact.search(query, 10).map(({ id }) => id));
    found += names.filter((name) => right.has(name)).length;
  }
  return { recall: found / (QUERIES * 10), answeredRemoved };
}

describe('5,000 capabilities, sorted by domain, two in five removed', () => {
  it('are found as by the exact scan, and the removed ones never, while tombstones stand in the graph', () => {
    expect(vectors.hiddenSize).toBe(removed.size);
    const { recall, answeredRemoved } = measure();
    expect(answeredRemoved).toEqual([]);
    expect(recall).toBeGreaterThanOrEqual(0.99);
  });

  it('are found as well after a rebuild without them', async () => {
    await build();
    expect(vectors.hiddenSize).toBe(0);
    expect(vectors.size).toBe(COUNT - removed.size);
    const { recall, answeredRemoved } = measure();
    expect(answeredRemoved).toEqual([]);
    expect(recall).toBeGreaterThanOrEqual(0.99);
  });

  it('do not find what was removed even when asked for exactly that', () => {
    for (const [i, { name }] of capabilities.entries()) {
      if (!removed.has(name) || i % 7 !== 0) continue;
      const names = indexer.search('default', rowOf(rows, i), 3).map(({ entry }) => entry.name as string);
      expect(names).toHaveLength(3);
      expect(names.filter((one) => removed.has(one))).toEqual([]);
    }
  });
});
