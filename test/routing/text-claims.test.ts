/** Who embeds a text that several instances want at the same moment. */
import { beforeEach, expect, it } from 'vitest';
import { type ContentHash, contentHash, ManualClock } from '../../src/core/index.ts';
import { type EmbedOptions, HashEmbedder } from '../../src/embedding/index.ts';
import { type TextClaiming, TextVectors } from '../../src/routing/text-vectors.ts';
import { KeyValueVectorStore, MemoryStore } from '../../src/storage/index.ts';
import { LayeredIndex } from '../../src/vector-index/index.ts';

const TERM_MS = 3_000;
const TEXTS = new Map(['one text', 'another text'].map((text) => [contentHash(text), text]));
const HASHES = [...TEXTS.keys()];

let clock: ManualClock;
let store: MemoryStore;
let held: Map<ContentHash, number>;

beforeEach(() => {
  clock = new ManualClock();
  store = new MemoryStore();
  held = new Map();
});

/** As Redis does it: each claim lapses by itself. */
const claims: TextClaiming = {
  async take(_fingerprint, hashes) {
    const mine = hashes.filter((hash) => (held.get(hash) ?? 0) <= clock.now());
    for (const hash of mine) held.set(hash, clock.now() + TERM_MS);
    return {
      mine,
      release: async () => {
        for (const hash of mine) held.delete(hash);
      },
    };
  },
};

class SlowEmbedder extends HashEmbedder {
  goOn: () => void = () => undefined;

  override async embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    await new Promise<void>((resolve) => {
      this.goOn = resolve;
    });
    return super.embed(texts, options);
  }
}

async function instance(embedder: HashEmbedder, textClaims: TextClaiming = claims) {
  await embedder.start();
  const vectors = new LayeredIndex(embedder.info.dimensions);
  const vectorStore = new KeyValueVectorStore(store);
  const textVectors = new TextVectors({
    ...{ clock, embedder, vectorStore, vectors, textClaims },
    textOf: (hash) => TEXTS.get(hash),
    onFilled: () => undefined,
  });
  return { embedder, vectors, textVectors };
}

/** Lets time pass until the promise is settled; answers how long that took. */
async function waited(promise: Promise<unknown>): Promise<number> {
  const startedAt = clock.now();
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  promise.then(settle, settle);
  while (!isSettled) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10);
  }
  return clock.now() - startedAt;
}

it('is the first that claims it; the others wait for its vector', async () => {
  const slow = new SlowEmbedder();
  const [a, b] = [await instance(slow), await instance(new HashEmbedder())];
  const first = a.textVectors.ensure(TEXTS);
  await expect.poll(() => held.size).toBe(2);
  const second = b.textVectors.ensure(TEXTS);
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
  }
  slow.goOn();
  expect(await first).toEqual({ embedded: 2, reused: 0 });
  await waited(second);
  expect(await second).toEqual({ embedded: 0, reused: 2 });
  expect([slow.embeddedTexts, b.embedder.embeddedTexts]).toEqual([2, 0]);
  expect(HASHES.map((hash) => b.vectors.has(hash))).toEqual([true, true]);
  expect(held.size).toBe(0);
});

it('is another one once the claim of one that died is over', async () => {
  await claims.take('', HASHES);
  const b = await instance(new HashEmbedder());
  const done = b.textVectors.ensure(TEXTS);
  expect(await waited(done)).toBeLessThan(TERM_MS + 200);
  expect(await done).toEqual({ embedded: 2, reused: 0 });
});

it('is whoever has waited long enough, whatever the claims say', async () => {
  const b = await instance(new HashEmbedder(), { take: async () => ({ mine: [], release: async () => undefined }) });
  const done = b.textVectors.ensure(TEXTS);
  expect(await waited(done)).toBeLessThan(16_000);
  expect(await done).toEqual({ embedded: 2, reused: 0 });
});

it('is everybody where claims cannot be made; a failed model gives its claim back', async () => {
  const b = await instance(new HashEmbedder(), { take: async () => Promise.reject(new Error('no Redis')) });
  expect(await b.textVectors.ensure(TEXTS)).toEqual({ embedded: 2, reused: 0 });
  store = new MemoryStore();
  const broken = await instance(new HashEmbedder());
  broken.embedder.failWith('broken');
  await expect(broken.textVectors.ensure(TEXTS)).rejects.toMatchObject({ code: 'AR_ERR_MODEL_UNUSABLE' });
  expect(held.size).toBe(0);
});
