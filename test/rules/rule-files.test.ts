import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Rule, ruleSchema } from '../../src/contract/index.ts';
import { canonicalText, ManualClock, subscribe } from '../../src/core/index.ts';
import { MAX_REGEX_STEPS, RuleService } from '../../src/rules/index.ts';
import { readRuleFile, writeRuleFile } from '../../src/rules/rule-file.ts';
import { KeyValueRuleStore, MemoryStore } from '../../src/storage/index.ts';

const rule = (id: string, partial: Partial<Rule> = {}): Rule => ({
  id,
  priority: 0,
  match: 'contains',
  patterns: [`word ${id}`],
  ...(partial.deny === true ? {} : { capability: 'finance.issue.invoice' }),
  ...partial,
});

async function serviceWith(...rules: Rule[]) {
  const store = new MemoryStore();
  const service = new RuleService({
    clock: new ManualClock(),
    store: new KeyValueRuleStore(store),
    isKnown: (name) => name === 'finance.issue.invoice',
    standingOf: (namespace, name) =>
      namespace === 'team-a' && name === 'finance.issue.invoice' ? { sensitive: true } : undefined,
  });
  await service.load();
  for (const one of rules) await service.put(one, BY);
  return { service, store };
}

const BY = { by: 'ops' };
const MERGE = { mode: 'merge', dryRun: false } as const;
const ids = (service: RuleService): string[] => service.list().map(({ id }) => id);

/** Any rule that the API takes, with the texts that YAML finds hardest. */
const text = (maxLength: number) =>
  fc
    .oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength }),
      fc.constantFrom(
        'on',
        '1e3',
        '~',
        '# x',
        'a: b',
        '- x',
        '"',
        "'",
        '\t',
        'a\r\nb',
        '\u2028',
        '\u0085',
        '\ufeffx',
        ' x ',
        '=',
        '!!str',
        '*a',
        '&a',
        '<<',
      ),
    )
    .filter((one) => one.isWellFormed());
const anyRule = fc
  .record(
    {
      id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,12}$/),
      priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
      match: fc.constantFrom('exact' as const, 'prefix' as const, 'contains' as const, 'regex' as const),
      patterns: fc.array(text(40), { minLength: 1, maxLength: 4 }),
      unless: fc.array(text(20), { maxLength: 3 }),
      negation: fc.constantFrom('ignore' as const, 'except' as const),
      languages: fc.constantFrom(['zh' as const], ['en' as const, 'zh' as const]),
      description: text(60),
      requireScope: fc.constantFrom('finance', 'yes', '007'),
      outcome: fc.constantFrom({ capability: 'a.b.c' }, { deny: true }),
    },
    { requiredKeys: ['id', 'match', 'patterns', 'outcome'] },
  )
  .map(({ outcome, ...fields }) => ruleSchema.parse({ ...fields, ...outcome }));

describe('rule files', () => {
  it('give back exactly what was written, whatever the texts', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyRule, { selector: ({ id }) => id, maxLength: 6 }), (rules) => {
        const file = writeRuleFile(rules);
        const back = readRuleFile(file).map((one) => ruleSchema.parse(one));
        expect(back).toEqual(rules);
        expect(writeRuleFile(back)).toBe(file);
      }),
      { numRuns: 300 },
    );
  });

  it('are the same bytes for the same set, whatever order it was made in, and read well', async () => {
    const one = await serviceWith(rule('b', { negation: 'except' }), rule('a', { priority: 3, patterns: ['开发票'] }));
    const other = await serviceWith(
      rule('a', { patterns: ['开发票'], priority: 3 }),
      rule('b', { negation: 'except' }),
    );
    const file = await one.service.exportFile();
    expect(await other.service.exportFile()).toBe(file);
    expect(file).toContain(
      'rules:\n  - id: "a"\n    priority: 3\n    match: "contains"\n    patterns:\n      - "开发票"\n',
    );
    expect(readRuleFile(await (await serviceWith()).service.exportFile())).toEqual([]);
  });

  it('make an empty service the same as the one exported', async () => {
    const { service } = await serviceWith(
      rule('a'),
      rule('b', { unless: ['不'], match: 'regex', patterns: ['开.票'] }),
    );
    const copy = (await serviceWith()).service;
    await copy.importRules({ yaml: await service.exportFile(), ...MERGE }, BY);
    expect(copy.list()).toEqual(service.list());
    expect(copy.version).toBe(1);
  });

  it('let others go on while a long one is written and read', async () => {
    const { service } = await serviceWith(...Array.from({ length: 500 }, (_, i) => rule(`r-${i}`)));
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const yaml = await service.exportFile();
    expect(turns).toBeGreaterThan(10);
    turns = 0;
    await service.importRules({ yaml, ...MERGE }, BY);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(10);
  });

  it.each([
    ['no YAML', 'rules: [', /not well-formed YAML/],
    ['a scalar', 'hello', /must be a list/],
    ['other fields', 'rules: []\nmore: 1', /must be a list/],
    ['a key twice', 'rules: []\nrules: []', /not well-formed YAML/],
    [
      'an alias bomb',
      `a: &a [x]\n${'b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n'.repeat(1)}rules: [${'*b,'.repeat(400)}]`,
      /YAML|must be/,
    ],
    ['nesting without end', '['.repeat(20_000), /YAML|must be/],
  ])('refuse %s', async (_what, yaml, message) => {
    const { service } = await serviceWith();
    await expect(service.importRules({ yaml, ...MERGE }, BY)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_RULE',
      message: expect.stringMatching(message),
    });
  });
});

describe('import', () => {
  it('merges or replaces as one version, and says what changed', async () => {
    const { service } = await serviceWith(rule('a'), rule('b'), rule('c'));
    const sent = [rule('d'), rule('a'), rule('b', { priority: 5 })];
    const dry = await service.importRules({ rules: sent, mode: 'replace', dryRun: true }, BY);
    expect(dry).toMatchObject({ applied: false, created: ['d'], replaced: ['b'], removed: ['c'], unchanged: 1 });
    expect([service.version, ids(service)]).toEqual([3, ['a', 'b', 'c']]);
    expect(await service.importRules({ rules: sent, ...MERGE }, BY)).toMatchObject({ rulesVersion: 4, removed: [] });
    expect(ids(service)).toEqual(['b', 'a', 'c', 'd']);
    expect(await service.importRules({ rules: sent, mode: 'replace', dryRun: false }, BY)).toMatchObject({
      rulesVersion: 5,
      removed: ['c'],
      unchanged: 3,
    });
    expect(await service.importRules({ rules: sent, mode: 'replace', dryRun: false }, BY)).toMatchObject({
      rulesVersion: 5,
    });
    expect((await service.history(2)).map(({ change, editedBy }) => [change, editedBy])).toEqual([
      ['import 3 rules (replace): 0 new, 0 replaced, 1 deleted', 'ops'],
      ['import 3 rules (merge): 1 new, 1 replaced, 0 deleted', 'ops'],
    ]);
  });

  it('names every flaw of every rule by its place, and changes nothing', async () => {
    const { service } = await serviceWith(rule('a'));
    const rules = [
      rule('ok'),
      { ...rule('b'), match: 'fuzzy' },
      rule('c', { match: 'regex', patterns: ['fine', '('] }),
      rule('ok'),
      { ...rule('e'), capability: 'nonsense' },
      rule('lint'),
      'text',
    ];
    const failure = await service
      .importRules({ rules, mode: 'replace', dryRun: false }, BY)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'AR_ERR_INVALID_RULE' });
    const paths = (failure as { issues: { path: string }[] }).issues.map(({ path }) => path);
    expect(paths).toEqual([
      'rules[1].match',
      'rules[2].patterns[1]',
      'rules[3].id',
      'rules[4].capability',
      'rules[5].id',
      'rules[6]',
    ]);
    expect([service.version, ids(service)]).toEqual([1, ['a']]);
  });

  it('is guarded by the version that the editor saw', async () => {
    const { service } = await serviceWith(rule('a'));
    const stale = { by: 'ops', expectedVersion: 0 };
    await expect(service.importRules({ rules: [], ...MERGE }, stale)).rejects.toMatchObject({
      code: 'AR_ERR_RULE_CONFLICT',
    });
  });

  it('warns of what the imported rules do to each other and to others', async () => {
    const { service } = await serviceWith(rule('a', { patterns: ['票'] }));
    const sent = [
      rule('b', { patterns: ['开发票'] }),
      rule('c', { patterns: ['天气'], capability: 'weather.query.city' }),
    ];
    const { warnings } = await service.importRules({ rules: sent, mode: 'merge', dryRun: true }, BY);
    expect(warnings.map(({ id, code, ruleId }) => [id, code, ruleId])).toEqual([
      ['b', 'unreachable', 'a'],
      ['c', 'unknown_capability', undefined],
    ]);
  });
});

describe('lint', () => {
  it('reports each pair once, from the rule that loses', async () => {
    const { service } = await serviceWith(
      rule('a', { patterns: ['发票'] }),
      rule('b', { patterns: ['开发票'], deny: true } as Partial<Rule>),
      rule('c', { patterns: ['发票'], capability: 'a.b.c' }),
      rule('d', { match: 'exact', patterns: ['order 7'] }),
      rule('e', { match: 'regex', patterns: ['^order \\d$'], priority: 1 }),
    );
    const { items, regexSteps, maxRegexSteps } = service.lint();
    expect(items.map(({ id, code, ruleId }) => [id, code, ruleId])).toEqual([
      ['b', 'unreachable', 'a'],
      ['c', 'unknown_capability', undefined],
      ['c', 'conflict', 'a'],
      ['c', 'unreachable', 'a'],
      ['d', 'unreachable', 'e'],
    ]);
    expect(regexSteps).toBeGreaterThan(0);
    expect(regexSteps).toBeLessThan(maxRegexSteps);
  });

  it('says of two thousand rules what holding each against all others says', async () => {
    const { service } = await serviceWith();
    const rules = Array.from({ length: 400 }, (_, i) =>
      rule(`r${i}`, {
        patterns: [`词${i % 50} 事`, `${i % 7}号词${i % 50} 事`],
        priority: i % 3,
        ...(i % 5 === 0 ? { match: 'exact' } : {}),
      }),
    );
    await service.importRules({ rules, mode: 'replace', dryRun: false }, BY);
    const pairs = new Set(service.lint().items.map(({ id, ruleId, code }) => `${id} ${ruleId} ${code}`));
    for (const sample of service.list().filter((_, i) => i % 40 === 0)) {
      const { warnings } = await service.put({ ...sample }, BY);
      const earlier = warnings.filter(
        ({ message }) => message.startsWith(`${sample.id} is never`) || /answers/.test(message),
      );
      for (const one of earlier) {
        const key = `${sample.id} ${one.ruleId} ${one.code}`;
        // A conflict of equals is told from the later one only.
        const turned = `${one.ruleId} ${sample.id} ${one.code}`;
        expect(pairs.has(key) || pairs.has(turned), key).toBe(true);
      }
    }
  });
});

describe('limits', () => {
  it('counts the steps of all regexes together, also those of unless, and loads what was stored before', async () => {
    const { service, store } = await serviceWith();
    const heavy = (id: string): Rule => rule(id, { match: 'regex', patterns: ['(a?){60}b'], unless: ['(c?){60}d'] });
    const sent = Array.from({ length: 100 }, (_, i) => heavy(`r${i}`));
    await expect(service.importRules({ rules: sent, ...MERGE }, BY)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_RULE',
      message: expect.stringContaining(`at most ${MAX_REGEX_STEPS}`),
    });
    await new KeyValueRuleStore(store).save({ version: 1, rules: sent, editedAt: 0, editedBy: 'x', change: 'before' });
    await service.load();
    expect(service.list()).toHaveLength(100);
    await expect(service.put(heavy('one-more'), BY)).rejects.toMatchObject({ code: 'AR_ERR_INVALID_RULE' });
    expect(await service.importRules({ rules: [], mode: 'replace', dryRun: false }, BY)).toMatchObject({
      rulesVersion: 2,
    });
  });

  it('keeps a set within 4 MiB of JSON, whatever it is put together from, and lets a larger one shrink', async () => {
    const { service, store } = await serviceWith();
    const long = '票'.repeat(500);
    const large = (id: string): Rule =>
      rule(id, { match: 'exact', patterns: Array.from({ length: 60 }, (_, i) => `${long}${id}.${i}`) });
    const sent = Array.from({ length: 50 }, (_, i) => large(`r${i}`));
    const tooLarge = { code: 'AR_ERR_INVALID_RULE', message: expect.stringContaining('at most 4194304 are allowed') };
    await expect(service.importRules({ rules: sent, ...MERGE }, BY)).rejects.toMatchObject(tooLarge);
    await service.importRules({ rules: sent.slice(0, 30), ...MERGE }, BY);
    await expect(service.importRules({ rules: sent.slice(30), ...MERGE }, BY)).rejects.toMatchObject(tooLarge);
    expect(service.version).toBe(1);
    await new KeyValueRuleStore(store).save({ version: 2, rules: sent, editedAt: 0, editedBy: 'x', change: 'before' });
    await service.load();
    await expect(service.put(rule('small'), BY)).rejects.toMatchObject(tooLarge);
    expect(await service.remove('r0', BY)).toBe(3);
  });
});

describe('dry run', () => {
  it('looks the capability up in the namespace, and names the scopes that let through', async () => {
    const { service } = await serviceWith(
      rule('a', { patterns: ['发票'] }),
      rule('b', { patterns: ['报销'], requireScope: 'fin' }),
    );
    expect(service.dryRun('开发票', 'team-a')).toMatchObject({
      namespace: 'team-a',
      registered: true,
      sensitive: true,
      scopes: ['sensitive', 'finance.issue.invoice'],
    });
    expect(service.dryRun('开发票', 'other')).toMatchObject({ registered: false, sensitive: false, scopes: [] });
    expect(service.dryRun('报销', 'team-a')).toMatchObject({ scopes: ['fin'] });
    expect(service.dryRun('天气')).toMatchObject({ registered: null, sensitive: null, scopes: [] });
  });

  it('is not counted as an evaluation; a decision is, with how many rules were looked at', async () => {
    const { service } = await serviceWith(
      rule('a', { patterns: ['发票'] }),
      rule('z', { match: 'regex', patterns: ['x+y'] }),
    );
    const seen: unknown[] = [];
    const stop = subscribe('rules.evaluated', (event) => seen.push(event));
    service.dryRun('开发票');
    service.current.decide(canonicalText('开发票'));
    service.current.decide(canonicalText('天气'));
    stop();
    expect(seen).toEqual([
      { tried: 1, outcome: 'capability' },
      { tried: 1, outcome: 'none' },
    ]);
  });
});
