import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Embedder } from '../../src/embedding/index.ts';

/** What every `Embedder` keeps. `makeEmbedder` gives a new one that was not started. */
export function embedderContract(name: string, makeEmbedder: () => Embedder): void {
  describe(`${name} as an Embedder`, () => {
    let embedder: Embedder;

    beforeAll(async () => {
      embedder = makeEmbedder();
      await embedder.start();
    });
    afterAll(() => embedder.stop());

    it('is ready after its start', () => {
      expect(embedder.health).toEqual({ state: 'ready' });
      expect(embedder.info.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    });

    it('answers an empty list with an empty list', async () => {
      expect(await embedder.embed([], { kind: 'query' })).toEqual([]);
    });

    it('gives unit vectors of its dimensions, whatever the text', async () => {
      const texts = [
        '',
        '   ',
        '\n',
        '😀',
        '\ud800 half a pair',
        'a',
        '明天杭州会下雨吗',
        '\u0000',
        '<pad>',
        'ẞ'.repeat(300),
      ];
      for (const vector of await embedder.embed(texts, { kind: 'query' })) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector).toHaveLength(embedder.info.dimensions);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      }
    });

    it('gives the vectors in the order of the texts', async () => {
      const texts = Array.from({ length: 20 }, (_, index) => `text ${'long '.repeat(index % 7)}${index}`);
      const together = await embedder.embed(texts, { kind: 'document' });
      for (const [index, text] of texts.entries()) {
        const [alone] = await embedder.embed([text], { kind: 'document' });
        expect(cosine(together[index], alone)).toBeCloseTo(1, 5);
      }
    });

    it('gives a text that occurs twice the same vector twice', async () => {
      const [first, other, second] = await embedder.embed(['查天气', 'send mail', '查天气'], { kind: 'query' });
      expect(cosine(first, second)).toBeCloseTo(1, 6);
      expect(cosine(first, other)).toBeLessThan(0.9);
    });

    it('puts near what shares words and apart what shares none', async () => {
      const [asked, near, far] = await embedder.embed(
        ['weather forecast for tomorrow', 'tomorrow weather forecast please', 'transfer money to savings'],
        { kind: 'query' },
      );
      expect(cosine(asked, near)).toBeGreaterThan(cosine(asked, far) + 0.3);
    });

    it('takes texts of 10,000 letters', async () => {
      const long = ['hello world 天气 '.repeat(1_000), '的'.repeat(10_000), 'a'.repeat(10_000), ' '.repeat(10_000)];
      for (const vector of await embedder.embed(long, { kind: 'document' })) {
        expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      }
    });

    it('serves calls that come at once', async () => {
      const calls = Array.from({ length: 30 }, (_, index) =>
        embedder.embed([`call ${index}`], { kind: index % 2 === 0 ? 'query' : 'document' }),
      );
      expect((await Promise.all(calls)).every(([vector]) => vector?.length === embedder.info.dimensions)).toBe(true);
    });

    it('gives up documents first, and goes on with queries', async () => {
      const other = makeEmbedder();
      await other.start();
      other.stopDocuments();
      await expect(other.embed(['a text'], { kind: 'document' })).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
      expect(await other.embed(['a query'], { kind: 'query' })).toHaveLength(1);
      await other.stop();
    });

    it('refuses before its start and after its stop, and tells each change of health once', async () => {
      const other = makeEmbedder();
      const states: string[] = [];
      const unlisten = other.onHealth((health) => states.push(health.state));
      expect(other.health.state).toBe('starting');
      await expect(other.embed(['x'], { kind: 'query' })).rejects.toMatchObject({ code: 'AR_ERR_NOT_READY' });
      await Promise.all([other.start(), other.start()]);
      await Promise.all([other.stop(), other.stop()]);
      await other.stop();
      expect(other.health).toEqual({ state: 'stopped' });
      await expect(other.embed(['x'], { kind: 'query' })).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
      await other.start();
      expect(other.health).toEqual({ state: 'stopped' });
      expect(states).toEqual(['ready', 'stopped']);
      unlisten();
    });
  });
}

export function cosine(a: ArrayLike<number> | undefined, b: ArrayLike<number> | undefined): number {
  if (a === undefined || b === undefined) return Number.NaN;
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return dot / Math.sqrt(squaresA * squaresB);
}
