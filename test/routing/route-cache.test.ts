import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { RouteCache } from '../../src/routing/route-cache.ts';

function cacheWith(options: { ttlMs?: number; maxEntries?: number } = {}) {
  const clock = new ManualClock();
  const cache = new RouteCache<{ n: number }>({ clock, ttlMs: 60_000, maxEntries: 100, ...options });
  let loads = 0;
  const load = (stamp = 's', key = 'k', cacheable = true) =>
    cache.load(stamp, key, async () => ({ value: { n: ++loads }, cacheable }));
  return { clock, cache, load };
}

describe('RouteCache', () => {
  it('holds a meaning for one minute and no longer', async () => {
    const { clock, cache, load } = cacheWith();
    await load();
    clock.advance(59_999);
    expect(cache.get('s', 'k')).toEqual({ n: 1 });
    clock.advance(2);
    expect(cache.get('s', 'k')).toBeUndefined();
  });

  it('forgets everything when the stamp changes', async () => {
    const { cache, load } = cacheWith();
    await load('s1');
    expect(cache.get('s2', 'k')).toBeUndefined();
    expect(cache.get('s1', 'k')).toBeUndefined();
  });

  it('loads once for many that ask at once', async () => {
    const { load } = cacheWith();
    const answers = await Promise.all([load(), load(), load()]);
    expect(answers.map(({ value, outcome }) => [value.n, outcome])).toEqual([
      [1, 'miss'],
      [1, 'coalesced'],
      [1, 'coalesced'],
    ]);
  });

  it('does not keep what must not be kept', async () => {
    const { cache, load } = cacheWith();
    expect((await load('s', 'k', false)).outcome).toBe('bypass');
    expect(cache.get('s', 'k')).toBeUndefined();
  });

  it('does not keep a load that began under an older stamp, nor let later callers join it', async () => {
    const { cache } = cacheWith();
    let finish: (loaded: { value: { n: number }; cacheable: boolean }) => void = () => {};
    const old = cache.load('s1', 'k', () => new Promise((resolve) => (finish = resolve)));
    const fresh = await cache.load('s2', 'k', async () => ({ value: { n: 2 }, cacheable: true }));
    finish({ value: { n: 1 }, cacheable: true });
    expect((await old).value.n).toBe(1);
    expect(fresh).toEqual({ value: { n: 2 }, outcome: 'miss' });
    expect(cache.get('s2', 'k')).toEqual({ n: 2 });
  });

  it('loads again after a failure', async () => {
    const { cache, load } = cacheWith();
    await expect(cache.load('s', 'k', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect((await load()).outcome).toBe('miss');
  });

  it.each([{ ttlMs: 0 }, { maxEntries: 0 }])('keeps nothing with %o', async (options) => {
    const { cache, load } = cacheWith(options);
    await load();
    expect(cache.get('s', 'k')).toBeUndefined();
  });
});
