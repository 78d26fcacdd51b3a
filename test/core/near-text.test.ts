import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearestTexts } from '../../src/core/near-text.ts';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['port', 'port', 0],
    ['prot', 'port', 1],
    ['por', 'port', 1],
    ['sport', 'port', 1],
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
  ])('turns "%s" into "%s" in %i edits', (left, right, edits) => {
    expect(editDistance(left, right)).toBe(edits);
  });

  it('is the same both ways and at most the longer length', () => {
    const word = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(word, word, (left, right) => {
        const edits = editDistance(left, right);
        expect(edits).toBe(editDistance(right, left));
        expect(edits).toBeLessThanOrEqual(Math.max(left.length, right.length));
        expect(edits === 0).toBe(left === right);
      }),
    );
  });
});

describe('nearestTexts', () => {
  it('answers the nearest first and drops what is far', () => {
    expect(nearestTexts('prot', ['host', 'port', 'ports', 'timeout'])).toEqual(['port']);
    expect(nearestTexts('topk', ['topK', 'top'])).toEqual(['topK', 'top']);
    expect(nearestTexts('zzzz', ['port'])).toEqual([]);
  });

  it('answers nothing for a text too long to be a typing slip', () => {
    expect(nearestTexts('p'.repeat(201), ['p'.repeat(201)])).toEqual([]);
  });
});
