import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpellingIndex } from '../../src/lexical-index/spelling.ts';

function knowing(...words: string[]): SpellingIndex {
  const index = new SpellingIndex();
  for (const word of words) index.add(word);
  return index;
}

describe('SpellingIndex', () => {
  it.each([
    ['cancle', 'cancel'],
    ['subscripton', 'subscription'],
    ['subscirptoin', 'subscription'],
    ['fligt', 'flight'],
    ['wether', 'weather'],
  ])('takes %s for %s', (typed, meant) => {
    expect(knowing('cancel', 'subscription', 'flight', 'weather', 'translate').nearest(typed)).toBe(meant);
  });

  it('leaves alone what is short, begins otherwise, or differs by more', () => {
    const index = knowing('mail', 'house', 'cancel', 'weather');
    for (const typed of ['mial', 'mouse', 'cacnle', 'feather', '天气预报啊', ''])
      expect(index.nearest(typed)).toBeUndefined();
  });

  it('answers the first by alphabet of equally near words, whatever came first', () => {
    expect(knowing('plate', 'plane').nearest('plale')).toBe('plane');
    expect(knowing('plane', 'plate').nearest('plale')).toBe('plane');
  });

  it('finds every known word again after one letter was left out, and nothing once all are removed', () => {
    const word = fc.stringMatching(/^[a-z]{9,14}$/u);
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 20 }), fc.nat(), (words, at) => {
        const index = knowing(...words);
        for (const one of words) {
          const cut = 1 + (at % (one.length - 1));
          expect(index.nearest(one.slice(0, cut) + one.slice(cut + 1))).toBeDefined();
        }
        for (const one of words) index.remove(one);
        for (const one of words) expect(index.nearest(one)).toBeUndefined();
      }),
    );
  });
});
