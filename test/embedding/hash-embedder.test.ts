import { describe, expect, it } from 'vitest';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { embedderContract } from '../contracts/embedder.contract.ts';

embedderContract('HashEmbedder', () => new HashEmbedder());
embedderContract('HashEmbedder of 64 dimensions', () => new HashEmbedder({ dimensions: 64 }));

describe('HashEmbedder', () => {
  it('gives two instances the same vectors, and other dimensions another fingerprint', async () => {
    const [one, two] = [new HashEmbedder(), new HashEmbedder()];
    await Promise.all([one.start(), two.start()]);
    const text = ['查询杭州天气 query weather'];
    expect(await one.embed(text, { kind: 'query' })).toEqual(await two.embed(text, { kind: 'document' }));
    expect(one.info).toEqual(two.info);
    expect(new HashEmbedder({ dimensions: 64 }).info.fingerprint).not.toBe(one.info.fingerprint);
  });

  it('fails with the reason it was given until it is healed', async () => {
    const embedder = new HashEmbedder();
    await embedder.start();
    const states: string[] = [];
    embedder.onHealth((health) => states.push(health.state));
    embedder.failWith('unplugged');
    expect(embedder.health).toEqual({ state: 'degraded', reason: 'unplugged', retryAt: null });
    await expect(embedder.embed(['x'], { kind: 'query' })).rejects.toMatchObject({
      code: 'AR_ERR_MODEL_UNUSABLE',
      message: expect.stringContaining('unplugged'),
    });
    embedder.failWith(null);
    expect(await embedder.embed(['x'], { kind: 'query' })).toHaveLength(1);
    expect(states).toEqual(['degraded', 'ready']);
  });

  it('counts the texts it embedded', async () => {
    const embedder = new HashEmbedder();
    await embedder.start();
    await embedder.embed(['a', 'b'], { kind: 'document' });
    await embedder.embed(['c'], { kind: 'query' });
    expect(embedder.embeddedTexts).toBe(3);
  });
});
