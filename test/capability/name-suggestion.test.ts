import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearDuplicateNames } from '../../src/capability/name-lint.ts';
import { suggestNames } from '../../src/capability/name-suggestion.ts';
import { editDistance } from '../../src/core/index.ts';

const KNOWN = [
  'weather.query.city',
  'weather.query.alert',
  'finance.issue.invoice',
  'mail.send.letter',
  'model.run.v1',
  'travel.book.flight',
];

/** Restricted Damerau-Levenshtein as the textbook has it: the whole table. */
function slowDistance(left: string, right: string): number {
  const table = Array.from({ length: left.length + 1 }, (_, row) =>
    Array.from({ length: right.length + 1 }, (_, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  const at = (row: number, column: number): number => table[row]?.[column] ?? Number.NaN;
  for (let row = 1; row <= left.length; row++) {
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + (same ? 0 : 1));
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, at(row - 2, column - 2) + 1);
      }
      (table[row] ?? [])[column] = cost;
    }
  }
  return at(left.length, right.length);
}

describe('editDistance', () => {
  it('agrees with the whole table up to its limit, in any order of calls', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, fc.nat(6), (left, right, limit) => {
        expect(editDistance(left, right, limit)).toBe(Math.min(slowDistance(left, right), limit + 1));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('suggestNames', () => {
  it('contains the name of which one character was typed wrongly', () => {
    const edit = fc.constantFrom('insert', 'delete', 'replace', 'swap');
    fc.assert(
      fc.property(
        fc.constantFrom(...KNOWN),
        edit,
        fc.nat(),
        fc.constantFrom(...'abz9_.X中'),
        (name, kind, at, typed) => {
          const index = at % name.length;
          const [before, here, after] = [name.slice(0, index), name.charAt(index), name.slice(index + 1)];
          const typo = {
            insert: before + typed + here + after,
            delete: before + after,
            replace: before + typed + after,
            swap: before + after.charAt(0) + here + after.slice(1),
          }[kind];
          expect(suggestNames(typo, KNOWN)).toContain(name);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['query.weather.city', 'weather.query.city'],
    ['city.query.weather', 'weather.query.city'],
    ['weather.city', 'weather.query.city'],
    ['wether.city', 'weather.query.city'],
    ['issue.invoice', 'finance.issue.invoice'],
    ['acme.mail.send.letter', 'mail.send.letter'],
    ['Weather/Query/City', 'weather.query.city'],
    ['weather query city', 'weather.query.city'],
    ['ｗｅａｔｈｅｒ．ｑｕｅｒｙ．ｃｉｔｙ', 'weather.query.city'],
    ['invoice', 'finance.issue.invoice'],
  ])('reads %j as %s', (raw, name) => {
    expect(suggestNames(raw, KNOWN)[0]).toBe(name);
  });

  it.each(['', '   ', '...', 'zzzz.yyyy.xxxx', '😀', 'x'.repeat(10_000)])('suggests nothing for %j', (raw) => {
    expect(suggestNames(raw, KNOWN)).toEqual([]);
  });

  it('answers the nearest first, equals in alphabetical order, at most the limit', () => {
    const known = ['a.bb.ca', 'a.bb.cc', 'a.bb.cb', 'a.bb.cdd'];
    expect(suggestNames('a.bb.cx', known)).toEqual(['a.bb.ca', 'a.bb.cb', 'a.bb.cc']);
    expect(suggestNames('a.bb.cx', known.toReversed(), 1)).toEqual(['a.bb.ca']);
  });

  it('finds the one name among ten thousand', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `domain${index % 97}.act${index % 89}.object${index}`);
    expect(suggestNames('wether.query.city', [...many, 'weather.query.city'])).toEqual(['weather.query.city']);
  });
});

describe('nearDuplicateNames', () => {
  it.each([
    ['query.weather.city', ['weather.query.city']],
    ['weather.query.citi', ['weather.query.city']],
    ['weather.query.ctiy', ['weather.query.city']],
    ['weather.query.cit', ['weather.query.city']],
    ['weather.query.cityy', ['weather.query.city']],
    ['weather.query.city', []],
    ['weather.query.cars', []],
    ['model.run.v2', []],
    ['model.run.v12', []],
    ['model.run.w1', ['model.run.v1']],
  ])('holds %s against the known names', (name, expected) => {
    expect(nearDuplicateNames(name, KNOWN)).toEqual(expected);
  });
});
