import { describe, expect, it } from 'vitest';
import { CachingEmbedder, HashEmbedder } from '../../src/embedding/index.ts';
import { embedderContract } from '../contracts/embedder.contract.ts';

embedderContract('CachingEmbedder', () => new CachingEmbedder(new HashEmbedder()));

async function started(maxEntries?: number): Promise<{ inner: HashEmbedder; embedder: CachingEmbedder }> {
  const inner = new HashEmbedder();
  const embedder = new CachingEmbedder(inner, maxEntries === undefined ? {} : { maxEntries });
  await embedder.start();
  return { inner, embedder };
}

describe('CachingEmbedder', () => {
  it('embeds a query once', async () => {
    const { inner, embedder } = await started();
    const [first] = await embedder.embed(['a'], { kind: 'query' });
    const again = await embedder.embed(['b', 'a', 'c'], { kind: 'query' });
    expect(inner.embeddedTexts).toBe(3);
    expect(again[1]).toBe(first);
    expect(again).toEqual(await inner.embed(['b', 'a', 'c'], { kind: 'query' }));
  });

  it('forgets the query that was used least recently', async () => {
    const { inner, embedder } = await started(2);
    await embedder.embed(['a', 'b'], { kind: 'query' });
    await embedder.embed(['a'], { kind: 'query' });
    await embedder.embed(['c'], { kind: 'query' });
    await embedder.embed(['a'], { kind: 'query' });
    expect(inner.embeddedTexts).toBe(3);
    await embedder.embed(['b'], { kind: 'query' });
    expect(inner.embeddedTexts).toBe(4);
  });

  it('lets documents through, so that a registration pushes no query out', async () => {
    const { inner, embedder } = await started(2);
    await embedder.embed(['a', 'b'], { kind: 'query' });
    await embedder.embed(['c', 'd', 'e', 'a'], { kind: 'document' });
    expect(inner.embeddedTexts).toBe(6);
    await embedder.embed(['a', 'b'], { kind: 'query' });
    expect(inner.embeddedTexts).toBe(6);
  });

  it('answers what it holds while the model is degraded, and nothing else', async () => {
    const { inner, embedder } = await started();
    await embedder.embed(['known'], { kind: 'query' });
    inner.failWith('unplugged');
    expect(await embedder.embed(['known'], { kind: 'query' })).toHaveLength(1);
    const both = embedder.embed(['known', 'new'], { kind: 'query' });
    await expect(both).rejects.toMatchObject({ code: 'AR_ERR_MODEL_UNUSABLE' });
    await embedder.stop();
    await expect(embedder.embed(['known'], { kind: 'query' })).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
  });
});
