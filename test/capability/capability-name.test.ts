import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkCapabilityName,
  nameAsWords,
  parseCapabilityName,
  segmentsOf,
} from '../../src/capability/capability-name.ts';
import { isAgentReachError } from '../../src/core/index.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const segment = fc
  .tuple(
    fc.constantFrom(...LETTERS),
    fc.string({ unit: fc.constantFrom(...LETTERS, ...'0123456789_'), minLength: 0, maxLength: 62 }),
  )
  .map(([first, rest]) => first + rest);
const goodName = fc.tuple(segment, segment, segment).map((segments) => segments.join('.'));

describe('checkCapabilityName', () => {
  it('passes every name of the grammar', () => {
    fc.assert(fc.property(goodName, (name) => checkCapabilityName(name).ok));
  });

  it('refuses a good name with one character put in that the grammar does not know', () => {
    const foreign = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
      .filter((one) => !/^[a-z0-9_]$/.test(one));
    fc.assert(
      fc.property(goodName, foreign, fc.nat(), (name, character, at) => {
        const index = at % (name.length + 1);
        return !checkCapabilityName(name.slice(0, index) + character + name.slice(index)).ok;
      }),
    );
  });

  it('refuses a name with one segment more, one less or an empty one', () => {
    fc.assert(
      fc.property(goodName, segment, fc.nat(2), (name, extra, at) => {
        const segments = name.split('.');
        const damaged = [[...segments, extra], segments.toSpliced(at, 1), segments.with(at, '')];
        return damaged.every((one) => !checkCapabilityName(one.join('.')).ok);
      }),
    );
  });

  it.each([
    ['', 'is empty; a name is domain.action.object'],
    ['weather', 'has 1 segment; 3 are needed: domain.action.object'],
    ['weather.qurey', 'has 2 segments; 3 are needed: domain.action.object'],
    ['a.b.c.d', 'has 4 segments; 3 are needed: domain.action.object'],
    ['weather..city', 'segment 2 is empty'],
    ['Weather.query.city', 'segment 1 ("Weather") holds upper case; only a-z, 0-9 and _ are allowed'],
    ['weather.2query.city', 'segment 2 ("2query") starts with a digit; the first character must be a-z'],
    ['weather.query._city', 'segment 3 ("_city") starts with _; the first character must be a-z'],
    ['weather.query.city ', 'segment 3 ("city ") holds white space'],
    ['weather.query.city\n', 'segment 3 ("city\\n") holds white space'],
    ['weather.query.城市', 'segment 3 ("城市") holds "城"; only a-z, 0-9 and _ are allowed'],
    ['weather.query-now.city', 'segment 2 ("query-now") holds "-"; only a-z, 0-9 and _ are allowed'],
    [`${'a'.repeat(64)}.b.c`, `segment 1 ("${'a'.repeat(64)}") has 64 characters; at most 63 are allowed`],
  ])('says which rule %j breaks', (raw, problem) => {
    expect(checkCapabilityName(raw)).toEqual({ ok: false, problem });
  });
});

describe('parseCapabilityName', () => {
  it('names the place, the rule and the name that was meant', () => {
    let caught: unknown;
    try {
      parseCapabilityName('weather.qurey', {
        known: ['weather.query.city', 'mail.send.letter'],
        path: 'capabilities[0]',
      });
    } catch (error) {
      caught = error;
    }
    expect(isAgentReachError(caught)).toBe(true);
    expect(caught).toMatchObject({
      code: 'AR_ERR_INVALID_CAPABILITY',
      message: '"weather.qurey" has 2 segments; 3 are needed: domain.action.object',
      issues: [{ path: 'capabilities[0]', message: 'has 2 segments; 3 are needed: domain.action.object' }],
      suggestions: ['weather.query.city'],
    });
  });

  it('does not echo kilobytes', () => {
    expect(() => parseCapabilityName('x'.repeat(5_000))).toThrow(/^.{0,160}$/);
  });
});

it('takes names apart and says them in words', () => {
  expect(segmentsOf(parseCapabilityName('weather.query.big_city'))).toEqual(['weather', 'query', 'big_city']);
  expect(nameAsWords('weather.query.big_city')).toBe('weather query big city');
});
