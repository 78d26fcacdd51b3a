import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../../src/contract/index.ts';
import { canonicalText } from '../../src/core/index.ts';
import { compileRule } from '../../src/rules/compiled-rule.ts';
import { negationAt } from '../../src/rules/negation.ts';
import { RuleSet } from '../../src/rules/rule-set.ts';
import {
  CHINESE,
  CHINESE_HOSTILE,
  CHINESE_UNSEEN,
  ENGLISH,
  ENGLISH_HOSTILE,
  ENGLISH_UNSEEN,
  type Phrase,
} from './negation-phrases.ts';

const ruleSetOf = (rules: readonly Rule[]): RuleSet => new RuleSet(rules.map(compileRule));

const rule = (partial: Partial<Rule> = {}): Rule => ({
  id: 'delete',
  priority: 0,
  match: 'contains',
  patterns: ['delete', 'deleting', '删除', '刪除'],
  negation: 'except',
  capability: 'account.delete.user',
  ...partial,
});
const fires = (text: string, partial: Partial<Rule> = {}): boolean =>
  ruleSetOf([rule(partial)]).decide(canonicalText(text)) !== undefined;

/** What is asked of the tables: fewer right answers, and the field would have to go. */
const LEAST_RIGHT_SHARE = 0.95;

describe('negation: except', () => {
  it.each([
    ['English', ENGLISH],
    ['Chinese', CHINESE],
    ['English, not looked at while tuning', ENGLISH_UNSEEN],
    ['Chinese, not looked at while tuning', CHINESE_UNSEEN],
    ['English, made to break it', ENGLISH_HOSTILE],
    ['Chinese, made to break it', CHINESE_HOSTILE],
  ] as const)('tells denied from asked for: %s', (_name, phrases: readonly Phrase[]) => {
    const wrong = phrases.filter(([text, isNegated]) => fires(text) === isNegated).map(([text]) => text);
    expect(phrases.length).toBeGreaterThanOrEqual(30);
    expect(new Set(phrases.map(([text]) => text)).size).toBe(phrases.length);
    expect(1 - wrong.length / phrases.length, wrong.join(' | ')).toBeGreaterThanOrEqual(LEAST_RIGHT_SHARE);
  });

  it.each([
    ["don't 删除", false],
    ["请don't删除", false],
    ['不要delete这个', false],
    ["delete it, don't delete the folder", true],
    ["don't delete the folder, delete the file", true],
    ['ＤＯＮ’Ｔ ＤＥＬＥＴＥ', false],
  ])('reads mixed text and every place of a pattern: %j fires %s', (text, expected) => {
    expect(fires(text)).toBe(expected);
  });

  it('counts for regex and prefix rules, and never against a negation inside the pattern itself', () => {
    expect(fires('不要删除这个文件', { match: 'regex', patterns: ['删除.*文件'] })).toBe(false);
    expect(fires('请删除这个文件', { match: 'regex', patterns: ['删除.*文件'] })).toBe(true);
    expect(fires('删除文件不行', { match: 'prefix', patterns: ['删除'] })).toBe(false);
    expect(fires("don't delete it", { patterns: ["don't delete"] })).toBe(true);
    expect(fires('不要删除', { patterns: ['不要删除'] })).toBe(true);
    expect(fires('no', { match: 'exact', patterns: ['no'] })).toBe(true);
  });

  it('is off unless the rule asks for it', () => {
    expect(fires("don't delete it", { negation: 'ignore' })).toBe(true);
    expect(fires("don't delete it", { negation: undefined } as Partial<Rule>)).toBe(true);
  });

  it('goes on to the next rule, and says by which words it was denied', () => {
    const set = ruleSetOf([rule({ priority: 9 }), rule({ id: 'keep', patterns: ['不要删除'] })]);
    expect(set.decide('千万不要删除')?.rule.id).toBe('keep');
    expect(set.explain('千万不要删除')[0]).toEqual({
      id: 'delete',
      priority: 9,
      outcome: 'excepted_by_negation',
      detail: 'contains "删除", but negated by "不要"',
      found: { pattern: '删除', start: 4, end: 6, text: '删除' },
      negatedBy: '不要',
    });
  });

  it('takes any text in bounded time', () => {
    const piece = fc.constantFrom(
      'not ',
      "don't ",
      '不',
      '别',
      ',',
      'or ',
      'delete ',
      '删除',
      '的',
      '了',
      'x '.repeat(40),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (parts) => {
        const text = canonicalText(parts.join(''));
        const answer = negationAt(text, { start: text.length, end: text.length });
        expect(answer === undefined || answer.length > 0).toBe(true);
      }),
    );
    const hostile = `${'not no '.repeat(140)}delete ${'delete '.repeat(140)}`;
    expect(typeof fires(hostile)).toBe('boolean');
  });
});
