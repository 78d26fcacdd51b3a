import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrings } from '../../src/vector-index/string-list.ts';

async function parsed(json: string, pieceLetters: number): Promise<string[]> {
  const all: string[] = [];
  for await (const piece of parseStrings(json, pieceLetters)) all.push(...piece);
  return all;
}

describe('parseStrings', () => {
  it('gives what JSON.parse gives, wherever it is cut', async () => {
    const awkward = fc.string({ unit: fc.constantFrom('"', ',', '\\\\', '[', ']', 'a'), maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(awkward, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), async (list, letters) => {
        expect(await parsed(JSON.stringify(list), letters)).toEqual(list);
      }),
    );
  });

  it('goes in pieces', async () => {
    const list = Array.from({ length: 1_000 }, (_, i) => `id-${i}`);
    let pieces = 0;
    for await (const _piece of parseStrings(JSON.stringify(list), 1_000)) pieces++;
    expect(pieces).toBeGreaterThan(8);
  });
});
