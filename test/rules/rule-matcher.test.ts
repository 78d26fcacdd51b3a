import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText } from '../../src/core/index.ts';
import { compilePattern, matchesContains } from '../../src/rules/rule-matcher.ts';
import { languagesOf, ruleText } from '../../src/rules/rule-text.ts';

const matches = (match: 'exact' | 'prefix' | 'contains' | 'regex', pattern: string, text: string): boolean =>
  compilePattern(match, pattern, 'patterns[0]').matches(ruleText(text));

describe('contains', () => {
  it.each([
    ['python', 'write python code', true],
    ['python', 'a pythonic style', false],
    ['python', 'cpython internals', false],
    ['python', 'python3 code', false],
    ['python', '用python写函数', true],
    ['python', '用Python3写函数', false],
    ['python', 'pythonic, not python', true],
    ['python', 'PYTHON!', true],
    ['开发票', '我需要开发票', true],
    ['发票', '我需要开发票', true],
    ['开发票', '我需要开 发票', false],
    ['C++', 'learn c++ now', true],
    ['C++', '用C++写', true],
    ['C++', 'learn vc++ now', false],
    ['.NET', 'an ASP.NET site', true],
    ['.NET', '.network', false],
    ['delete', 'ＤＥＬＥＴＥ everything', true],
    ['ｄｅｌｅｔｅ', 'please delete it', true],
    ['delete', 'undeleted', false],
    ['don’t delete', "don't  delete it", true],
    ['café', 'a cafe\u0301 nearby', true],
    ['cafe', 'a cafe\u0301 nearby', false],
    ['мир', 'всемирный', false],
    ['мир', 'мир труд май', true],
    ['3', '13月', false],
    ['3', '3月', true],
    ['🔥', 'so 🔥hot', true],
    ['𠮷', '我爱𠮷野家', true],
    ['issue an invoice', 'please issue an\u3000invoice', true],
    ['a', 'aaaa a', true],
  ])('looks for %j in %j: %s', (pattern, text, expected) => {
    expect(matches('contains', pattern, text)).toBe(expected);
  });

  it('finds a pattern between Han characters wherever it stands', () => {
    const han = fc.string({ unit: fc.constantFrom(...'我要的写函数天'), maxLength: 8 });
    const pattern = fc.constantFrom('python', 'c++', '.net', '开票', '3d');
    fc.assert(fc.property(han, pattern, han, (before, found, after) => matchesContains(before + found + after, found)));
  });

  it('never finds a word inside a longer Latin word', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'xyz019é'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(letters, letters, (before, after) => {
        expect(matchesContains(`${before}delete${after}`, 'delete')).toBe(false);
        expect(matchesContains(`delete${after}`, 'delete')).toBe(false);
        expect(matchesContains(`${before}delete`, 'delete')).toBe(false);
      }),
    );
  });
});

describe('exact and prefix', () => {
  it.each([
    ['exact', 'Say Hello', '  ＳＡＹ   hello ', true],
    ['exact', 'say hello', 'say hello!', false],
    ['prefix', 'weather', 'Weather in Hangzhou', true],
    ['prefix', 'weather', 'weatherproof paint', false],
    ['prefix', 'weather', 'the weather', false],
    ['prefix', '天气', '天气怎么样', true],
    ['prefix', '/run', '/run tests', true],
    ['prefix', '/run', '/runner', false],
  ] as const)('%s %j on %j: %s', (match, pattern, text, expected) => {
    expect(matches(match, pattern, text)).toBe(expected);
  });
});

describe('regex', () => {
  it.each([
    ['^order #\\d+$', 'Order #12', true],
    ['取消.{0,4}订单', '帮我取消这个订单', true],
    ['DELETE', 'please delete', true],
    ['\\p{Han}{3}', 'ab天气好', true],
    ['^x', 'ax', false],
  ])('%j on %j: %s', (pattern, text, expected) => {
    expect(matches('regex', pattern, text)).toBe(expected);
  });

  it('stays linear on a pattern that makes others exponential', () => {
    const hostile = compilePattern('regex', '^(a+)+$', 'patterns[0]');
    // 2^2000 steps for a backtracking engine: it would not come back.
    expect(hostile.matches(`${'a'.repeat(2_000)}!`)).toBe(false);
    expect(hostile.matches('a'.repeat(2_000))).toBe(true);
  });

  it.each(['(', '(?=a)b', '(a)\\1', '[z-a]', 'a{2000}', '.{401}', '((a{30}){30}){30}', '  '])(
    'refuses %j',
    (pattern) => {
      let caught: unknown;
      try {
        compilePattern('regex', pattern, 'patterns[3]');
      } catch (error) {
        caught = error;
      }
      expect(caught).toMatchObject({ code: 'AR_ERR_INVALID_RULE', issues: [{ path: 'patterns[3]' }] });
    },
  );
});

it.each(['', '   ', '\u200b', '\u3000'])('refuses the text pattern %j, which holds nothing to look for', (pattern) => {
  expect(() => compilePattern('contains', pattern, 'unless[1]')).toThrow('unless[1]: holds no word or symbol');
});

it.each([
  ['明天下雨吗', ['zh']],
  ['will it rain', ['en']],
  ['用python写函数', ['zh', 'en']],
  ['42 !', []],
  ['дождь', []],
])('reads the language of %j by its script', (text, expected) => {
  expect([...languagesOf(text)]).toEqual(expected);
});

it('reads a text that is canonical already as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const once = canonicalText(text);
      fc.pre(canonicalText(once) === once);
      expect(ruleText(once)).toBe(ruleText(text));
    }),
  );
});
