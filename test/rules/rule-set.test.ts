import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../../src/contract/index.ts';
import { canonicalText } from '../../src/core/index.ts';
import { compileRule } from '../../src/rules/compiled-rule.ts';
import { RuleSet } from '../../src/rules/rule-set.ts';

const ruleSetOf = (rules: readonly Rule[]): RuleSet => new RuleSet(rules.map(compileRule));

function rule(partial: Partial<Rule> & Pick<Rule, 'id' | 'patterns'>): Rule {
  const outcome = partial.deny === true ? {} : { capability: 'finance.issue.invoice' };
  return { priority: 0, match: 'contains', ...outcome, ...partial };
}

const decide = (rules: Rule[], intent: string) => ruleSetOf(rules).decide(canonicalText(intent));

describe('RuleSet', () => {
  it('tries higher priorities first, equal ones by id', () => {
    const rules = [
      rule({ id: 'c', patterns: ['delete'], priority: 1 }),
      rule({ id: 'b', patterns: ['delete'], priority: 2 }),
      rule({ id: 'a', patterns: ['delete'], priority: 1 }),
    ];
    expect(ruleSetOf(rules).rules.map((one) => one.id)).toEqual(['b', 'a', 'c']);
    expect(decide(rules, 'delete it')?.rule.id).toBe('b');
    expect(decide(rules.toSpliced(1, 1), 'delete it')?.rule.id).toBe('a');
  });

  it('says what was decided and by which pattern', () => {
    const rules = [
      rule({ id: 'invoice', patterns: ['发票', 'invoice'], requireScope: 'finance' }),
      rule({ id: 'stop', patterns: ['hack'], deny: true }),
    ];
    expect(decide(rules, 'send the Invoice')).toMatchObject({
      rule: { id: 'invoice' },
      capability: 'finance.issue.invoice',
      deny: false,
      requireScope: 'finance',
      pattern: 'invoice',
    });
    expect(decide(rules, 'hack it')).toMatchObject({ capability: null, deny: true, requireScope: null });
    expect(decide(rules, 'weather')).toBeUndefined();
    expect(decide(rules, '')).toBeUndefined();
  });

  it.each([
    ['delete my account', true],
    ["don't delete my account", false],
    ['Don’t delete my account', false],
    ['do not delete my account', false],
    ['never delete my account', false],
    ['删除我的账号', true],
    ['请帮我删除账号', true],
    ['不要删除我的账号', false],
    ['千万别删除我的账号', false],
    ['无需删除', false],
  ])('holds negations back by unless, in both languages: %j fires %s', (intent, fires) => {
    const rules = [
      rule({
        id: 'delete-account',
        patterns: ['delete', '删除'],
        unless: ["don't delete", 'do not delete', 'never delete', '不要删除', '别删除', '无需'],
      }),
    ];
    expect(decide(rules, intent) !== undefined).toBe(fires);
  });

  it('looks for exceptions anywhere in the text, in exact and prefix rules too; by regex in regex rules', () => {
    const exact = [rule({ id: 'a', match: 'exact', patterns: ['开 发票'], unless: ['发票'] })];
    expect(decide(exact, '开 发票')).toBeUndefined();
    const prefix = [rule({ id: 'a', match: 'prefix', patterns: ['deploy'], unless: ['dry run'] })];
    expect(decide(prefix, 'deploy as a dry run')).toBeUndefined();
    expect(decide(prefix, 'deploy as a dry runner')).toBeDefined();
    const regex = [rule({ id: 'a', match: 'regex', patterns: ['删除.*文件'], unless: ['不.{0,2}删除'] })];
    expect(decide(regex, '删除这个文件')).toBeDefined();
    expect(decide(regex, '不想删除这个文件')).toBeUndefined();
  });

  it('goes on to the next rule after an exception', () => {
    const rules = [
      rule({ id: 'a', patterns: ['删除'], unless: ['不要删除'], priority: 9 }),
      rule({ id: 'b', patterns: ['删除'], deny: true }),
    ];
    expect(decide(rules, '不要删除')?.rule.id).toBe('b');
  });

  it.each([
    ['我需要开发票', '发票', true],
    ['用python写函数', 'python', true],
    ['write a pythonic loop', 'python', false],
    ['用pythonic的写法', 'python', false],
    ['我想学C++', 'C++', true],
    ['我想学Ｃ＋＋编程', 'c++', true],
    ['learn c+ +', 'C++', false],
    ['迁移到.NET平台', '.NET', true],
    ['move to .net 8', '.NET', true],
    ['an asp.network', '.NET', false],
    ['ＤＥＬＥＴＥ my account', 'delete', true],
    ['把ｄｅｌｅｔｅ按钮点一下', 'DELETE', true],
  ])('decides %j by the pattern %j: %s', (intent, pattern, fires) => {
    expect(decide([rule({ id: 'a', patterns: [pattern] })], intent) !== undefined).toBe(fires);
  });

  it('keeps rules to their languages, mixed text being of both', () => {
    const zh = [rule({ id: 'a', patterns: ['python', '3'], languages: ['zh'] })];
    const en = [rule({ id: 'a', patterns: ['python', '3'], languages: ['en'] })];
    expect(decide(zh, '用python写函数')).toBeDefined();
    expect(decide(en, '用python写函数')).toBeDefined();
    expect(decide(zh, 'write python')).toBeUndefined();
    expect(decide(en, 'write python')).toBeDefined();
    expect(decide(en, '3')).toBeUndefined();
  });

  it('explains each rule in the order tried', () => {
    const set = ruleSetOf([
      rule({ id: 'r1', patterns: ['发票'], languages: ['en'], priority: 5 }),
      rule({ id: 'r2', patterns: ['发票'], unless: ['开发票'], priority: 4 }),
      rule({ id: 'r3', patterns: ['天气'], priority: 3 }),
      rule({ id: 'r4', patterns: ['开发票'], priority: 2 }),
      rule({ id: 'r5', patterns: ['需要'], deny: true, priority: 1 }),
    ]);
    const found = (pattern: string, start: number) => ({ pattern, start, end: start + pattern.length, text: pattern });
    expect(set.explain('我需要开发票')).toEqual([
      { id: 'r1', priority: 5, outcome: 'other_language', detail: 'for en; the text is zh' },
      {
        id: 'r2',
        priority: 4,
        outcome: 'excepted_by_unless',
        detail: 'contains "发票", but unless "开发票"',
        found: found('发票', 4),
        exception: found('开发票', 3),
      },
      { id: 'r3', priority: 3, outcome: 'no_match', detail: 'no contains pattern is found' },
      {
        id: 'r4',
        priority: 2,
        outcome: 'decided',
        detail: 'contains "开发票" -> finance.issue.invoice',
        found: found('开发票', 3),
      },
      {
        id: 'r5',
        priority: 1,
        outcome: 'would_match',
        detail: 'contains "需要"; an earlier rule decided',
        found: found('需要', 1),
      },
    ]);
  });

  it.each([
    [{ patterns: ['ok', ' '] }, 'AR_ERR_INVALID_RULE', 'patterns[1]'],
    [{ patterns: ['ok'], unless: ['\u200b'] }, 'AR_ERR_INVALID_RULE', 'unless[0]'],
    [{ patterns: ['a', '('], match: 'regex' }, 'AR_ERR_INVALID_RULE', 'patterns[1]'],
    [{ patterns: ['a'], capability: 'finance.invoice' }, 'AR_ERR_INVALID_CAPABILITY', 'capability'],
  ] as const)('refuses %j', (partial, code, path) => {
    let caught: unknown;
    try {
      ruleSetOf([{ id: 'a', priority: 0, match: 'contains', capability: 'a.b.c', ...partial } as unknown as Rule]);
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ code, issues: [{ path }] });
  });

  it('decides by look-up as by holding each rule against the text', () => {
    const piece = fc.constantFrom('a', 'ab', 'b', '票', '发票', '开', ' ', '+', '.', '3', '𠮷', '不', ' not ', '别');
    const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    const pattern = text.filter((one) => one.trim() !== '');
    const ruleBody = fc.record({
      priority: fc.nat(2),
      match: fc.constantFrom('exact', 'prefix', 'contains'),
      patterns: fc.array(pattern, { minLength: 1, maxLength: 3 }),
      unless: fc.array(pattern, { maxLength: 1 }),
      negation: fc.constantFrom('ignore', 'except'),
    });
    const regex = fc.record({
      priority: fc.nat(2),
      match: fc.constant('regex'),
      patterns: fc.array(fc.constantFrom('a+b', '^票', '开.票', 'b$'), { minLength: 1, maxLength: 2 }),
    });
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 4, arbitrary: ruleBody }, regex), { maxLength: 12 }),
        text,
        (bodies, intent) => {
          const set = ruleSetOf(bodies.map((body, index) => rule({ id: `r${index}`, ...body } as Rule)));
          const explained = set.explain(intent).find((trace) => trace.outcome === 'decided');
          expect(set.decide(canonicalText(intent))?.rule.id).toBe(explained?.id);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('finds the one rule among a thousand', () => {
    const many = Array.from({ length: 1_000 }, (_, index) =>
      rule({
        id: `r${index}`,
        match: index % 2 === 0 ? 'contains' : 'exact',
        patterns: [`帮我办第${index}号业务`, `task ${index}`],
      }),
    );
    const set = ruleSetOf(many);
    expect(set.decide('请帮我办第468号业务吧')?.rule.id).toBe('r468');
    expect(set.decide('task 467')?.rule.id).toBe('r467');
    expect(set.decide('task 467 now')).toBeUndefined();
    expect(set.size).toBe(1_000);
  });
});
