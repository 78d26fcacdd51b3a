import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipText, estimateTokens } from '../../src/embedding/text-window.ts';

describe('clipText', () => {
  it('leaves a text alone that may fit', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 128 * 16, unit: 'binary' }),
        (text) => clipText(text, 128) === text || text.length > 128 * 16,
      ),
    );
  });

  it('bounds any text and never leaves half a letter', () => {
    for (const text of ['a'.repeat(10_000), `a${'😀'.repeat(5_000)}`, '的 '.repeat(5_000)]) {
      const clipped = clipText(text, 128);
      expect(clipped.length).toBeLessThanOrEqual(2_048);
      expect(clipped.isWellFormed()).toBe(true);
    }
  });

  it('looks behind a run of white space', () => {
    expect(clipText(`${' '.repeat(4_000)}weather`, 128)).toBe(' weather');
  });
});

describe('estimateTokens', () => {
  it('grows with the text and ends at the window', () => {
    expect(estimateTokens('', 128)).toBe(2);
    expect(estimateTokens('明天杭州会下雨吗', 128)).toBeCloseTo(7.6);
    expect(estimateTokens('weather query in Beijing', 128)).toBe(8);
    expect(estimateTokens('的'.repeat(10_000), 128)).toBe(128);
  });
});
