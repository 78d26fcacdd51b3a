import { describe, expect, it } from 'vitest';
import type { Rule } from '../../src/contract/index.ts';
import { AgentReachError, ManualClock } from '../../src/core/index.ts';
import { RuleService } from '../../src/rules/rule-service.ts';
import type { RuleEditRecord, RuleSetVersion, RuleStore } from '../../src/rules/rule-store.ts';

/** Holds versions as a store does, can be told to fail, and lets other work run before it answers. */
class ListStore implements RuleStore {
  readonly versions: RuleSetVersion[] = [];
  isDown = false;

  async load(): Promise<RuleSetVersion | undefined> {
    return this.versions.at(-1);
  }

  async save(version: RuleSetVersion): Promise<void> {
    await Promise.resolve();
    if (this.isDown) throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE');
    this.versions.push(version);
  }

  async read(version: number): Promise<RuleSetVersion | undefined> {
    return this.versions.find((one) => one.version === version);
  }

  async history(newest: number, limit: number): Promise<RuleEditRecord[]> {
    const edits = this.versions.filter(({ version }) => version <= newest).toReversed();
    return edits.slice(0, limit).map(({ rules, ...edit }) => ({ ...edit, ruleCount: rules.length }));
  }
}

function rule(id: string, patterns: string[], partial: Partial<Rule> = {}): Rule {
  return { id, priority: 0, match: 'contains', patterns, capability: 'finance.issue.invoice', ...partial };
}

const BY = { by: 'ops' };

async function serviceWith(...rules: Rule[]) {
  const store = new ListStore();
  const clock = new ManualClock();
  const service = new RuleService({ clock, store, isKnown: (name) => name === 'finance.issue.invoice' });
  await service.load();
  for (const one of rules) await service.put(one, BY);
  return { service, store, clock };
}

describe('RuleService', () => {
  describe('with a stored rule that this version cannot compile', () => {
    const alien = rule('alien', ['(?<=x)'], { match: 'regex' });
    const loaded = async () => {
      const { service, store } = await serviceWith(rule('invoice', ['发票']));
      store.versions.push({
        version: 2,
        rules: [alien, ...service.list()],
        editedAt: 1,
        editedBy: 'newer',
        change: 'x',
      });
      await service.load();
      const storedIds = () => store.versions.at(-1)?.rules.map(({ id }) => id);
      return { service, storedIds };
    };

    it('serves the others, and keeps it stored through their edits', async () => {
      const { service, storedIds } = await loaded();
      expect([service.version, service.list().map(({ id }) => id)]).toEqual([2, ['invoice']]);
      await service.put(rule('more', ['更多']), BY);
      await service.remove('invoice', BY);
      await service.importRules({ rules: [rule('sent', ['x'])], mode: 'merge', dryRun: false }, BY);
      expect(storedIds()).toEqual(['more', 'sent', 'alien']);
      expect(service.list().map(({ id }) => id)).toEqual(['more', 'sent']);
    });

    it('names it in the lint and exports it, so that no file that replaces all loses it silently', async () => {
      const { service, storedIds } = await loaded();
      expect(service.notInForce).toEqual(['alien']);
      expect(service.lint().items[0]).toMatchObject({ id: 'alien', code: 'not_in_force' });
      const yaml = await service.exportFile();
      expect(yaml).toContain('id: "alien"');
      const back = service.importRules({ yaml, mode: 'replace', dryRun: false }, BY);
      await expect(back).rejects.toMatchObject({ code: 'AR_ERR_INVALID_RULE' });
      expect(storedIds()).toEqual(['alien', 'invoice']);
    });

    it('lets go of it where it is replaced, deleted, or not in a file that replaces all', async () => {
      const replaced = await loaded();
      await replaced.service.put(rule('alien', ['now']), BY);
      expect(replaced.storedIds()).toEqual(['alien', 'invoice']);
      const deleted = await loaded();
      expect(await deleted.service.remove('alien', BY)).toBe(3);
      expect(deleted.storedIds()).toEqual(['invoice']);
      await expect(deleted.service.remove('alien', BY)).rejects.toMatchObject({ code: 'AR_ERR_RULE_NOT_FOUND' });
      const file = await loaded();
      const reply = await file.service.importRules(
        { rules: [rule('sent', ['x'])], mode: 'replace', dryRun: false },
        BY,
      );
      expect([reply.removed, file.storedIds()]).toEqual([['invoice', 'alien'], ['sent']]);
    });

    it('refuses to go back to a version with it, which changes nothing', async () => {
      const { service, storedIds } = await loaded();
      await service.put(rule('alien', ['now']), BY);
      await expect(service.rollback(2, BY)).rejects.toMatchObject({ code: 'AR_ERR_INVALID_RULE' });
      expect([service.version, storedIds()]).toEqual([3, ['alien', 'invoice']]);
    });
  });

  it('starts empty at version 0 and raises the version with each edit', async () => {
    const { service, store, clock } = await serviceWith();
    expect(service.version).toBe(0);
    expect(service.list()).toEqual([]);
    const created = await service.put(rule('invoice', ['发票']), BY);
    expect(created).toMatchObject({ rulesVersion: 1, created: true, warnings: [] });
    const replaced = await service.put(rule('invoice', ['开发票']), BY);
    expect(replaced).toMatchObject({ rulesVersion: 2, created: false });
    expect(service.get('invoice').patterns).toEqual(['开发票']);
    expect(await service.remove('invoice', BY)).toBe(3);
    expect(store.versions.map(({ version, change, editedBy }) => [version, change, editedBy])).toEqual([
      [1, 'put invoice', 'ops'],
      [2, 'put invoice', 'ops'],
      [3, 'delete invoice', 'ops'],
    ]);
    expect(store.versions[0]?.editedAt).toBe(clock.wallNow());
  });

  it('stores nothing when the same rule is put again', async () => {
    const { service, store } = await serviceWith(rule('invoice', ['发票']));
    expect(await service.put(rule('invoice', ['发票']), BY)).toMatchObject({ rulesVersion: 1, created: false });
    expect(store.versions).toHaveLength(1);
  });

  it('answers the same after a restart', async () => {
    const { store, clock } = await serviceWith(rule('b', ['发票']), rule('a', ['天气']));
    const restarted = new RuleService({ clock, store });
    await restarted.load();
    expect(restarted.version).toBe(2);
    expect(restarted.list().map((one) => one.id)).toEqual(['a', 'b']);
    expect(restarted.current.decide('开发票')?.rule.id).toBe('b');
  });

  it('changes nothing when the rule is refused', async () => {
    const { service, store } = await serviceWith(rule('invoice', ['发票']));
    const before = service.current;
    await expect(service.put(rule('invoice', ['('], { match: 'regex' }), BY)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_RULE',
    });
    await expect(service.put(rule('new', ['x'], { capability: 'nonsense' }), BY)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_CAPABILITY',
    });
    await expect(service.remove('other', BY)).rejects.toMatchObject({ code: 'AR_ERR_RULE_NOT_FOUND' });
    expect(() => service.get('other')).toThrow(expect.objectContaining({ code: 'AR_ERR_RULE_NOT_FOUND' }));
    expect(service.current).toBe(before);
    expect([service.version, store.versions.length]).toEqual([1, 1]);
  });

  it('changes nothing when the store fails, and goes on afterwards', async () => {
    const { service, store } = await serviceWith(rule('invoice', ['发票']));
    store.isDown = true;
    await expect(service.put(rule('other', ['天气']), BY)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    await expect(service.remove('invoice', BY)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    expect([service.version, service.list().length]).toEqual([1, 1]);
    store.isDown = false;
    expect(await service.put(rule('other', ['天气']), BY)).toMatchObject({ rulesVersion: 2 });
  });

  it('keeps the old rules in force until the store has the new ones', async () => {
    const { service } = await serviceWith(rule('invoice', ['发票']));
    const edit = service.put(rule('stop', ['发票'], { priority: 9 }), BY);
    expect(service.current.decide('发票')?.rule.id).toBe('invoice');
    await edit;
    expect(service.current.decide('发票')?.rule.id).toBe('stop');
  });

  it('loses no edit of many made at once', async () => {
    const { service, store } = await serviceWith();
    const edits = Array.from({ length: 50 }, (_, index) => service.put(rule(`r${index}`, [`word ${index}`]), BY));
    const versions = (await Promise.all(edits)).map((reply) => reply.rulesVersion);
    expect(versions).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    expect(service.list()).toHaveLength(50);
    expect(store.versions.at(-1)?.rules).toHaveLength(50);
  });

  it('lets one of two editors through who saw the same version', async () => {
    const { service } = await serviceWith(rule('invoice', ['发票']));
    const seen = { by: 'ops', expectedVersion: 1 };
    const [first, second] = await Promise.allSettled([
      service.put(rule('a', ['天气']), seen),
      service.put(rule('b', ['邮件']), seen),
    ]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'AR_ERR_RULE_CONFLICT' } });
    await expect(service.remove('a', seen)).rejects.toMatchObject({ code: 'AR_ERR_RULE_CONFLICT' });
    expect(service.version).toBe(2);
  });

  it('goes back to an older version as a new one', async () => {
    const { service } = await serviceWith(rule('invoice', ['发票']), rule('stop', ['天气']));
    expect(await service.rollback(1, BY)).toBe(3);
    expect(service.list().map((one) => one.id)).toEqual(['invoice']);
    expect((await service.history(2)).map((one) => one.change)).toEqual(['rollback to 1', 'put stop']);
    await expect(service.rollback(99, BY)).rejects.toMatchObject({ code: 'AR_ERR_RULE_NOT_FOUND' });
  });

  it('runs a text dry', async () => {
    const { service } = await serviceWith(rule('invoice', ['开发票']), rule('stop', ['hack'], deny()));
    expect(service.dryRun(' 我需要开发票 ')).toEqual({
      rulesVersion: 2,
      canonicalText: '我需要开发票',
      decidedBy: 'invoice',
      capability: 'finance.issue.invoice',
      deny: false,
      namespace: 'default',
      registered: false,
      sensitive: false,
      scopes: [],
      rules: [
        {
          id: 'invoice',
          priority: 0,
          outcome: 'decided',
          detail: 'contains "开发票" -> finance.issue.invoice',
          found: { pattern: '开发票', start: 3, end: 6, text: '开发票' },
        },
        { id: 'stop', priority: 0, outcome: 'no_match', detail: 'no contains pattern is found' },
      ],
    });
    expect(service.dryRun('HACK')).toMatchObject({ decidedBy: 'stop', capability: null, deny: true });
    expect(service.dryRun('')).toMatchObject({ decidedBy: null, capability: null, deny: false });
  });
});

function deny(partial: Partial<Rule> = {}): Partial<Rule> {
  return { capability: undefined, deny: true, ...partial } as Partial<Rule>;
}

describe('warnings at an edit', () => {
  const codes = async (edited: Rule, ...others: Rule[]) => {
    const { service } = await serviceWith(...others);
    return (await service.put(edited, BY)).warnings.map(({ code, ruleId }) => [code, ruleId]);
  };

  it('says nothing of a plain rule', async () => {
    expect(await codes(rule('b', ['开发票']), rule('a', ['天气']))).toEqual([]);
  });

  it('tells of another outcome for the same pattern at the same or a higher priority', async () => {
    const edited = rule('b', ['开发票', '新模式']);
    expect(await codes(edited, rule('a', ['开发票'], deny()))).toEqual([['conflict', 'a']]);
    expect(await codes(edited, rule('c', ['开发票'], { requireScope: 'x', priority: 1, unless: ['不'] }))).toEqual([
      ['conflict', 'c'],
    ]);
    expect(await codes(edited, rule('a', ['开发票'], deny({ priority: -1 })))).toEqual([['unreachable', 'a']]);
    expect(await codes(edited, rule('a', ['开发票'], deny({ match: 'exact' })))).toEqual([]);
    expect(await codes(edited, rule('a', ['开发票']))).toEqual([]);
  });

  it('tells of a rule that is never reached, either way', async () => {
    expect(await codes(rule('b', ['开发票', '发票']), rule('a', ['发票']))).toEqual([['unreachable', 'a']]);
    expect(await codes(rule('b', ['issue an invoice'], { match: 'exact' }), rule('a', ['invoice']))).toEqual([
      ['unreachable', 'a'],
    ]);
    expect(await codes(rule('a', ['发票']), rule('b', ['开发票']))).toEqual([['unreachable', 'b']]);
    expect(await codes(rule('b', ['invoices']), rule('a', ['invoice']))).toEqual([]);
    expect(await codes(rule('b', ['开发票']), rule('a', ['发票'], { unless: ['不'] }))).toEqual([]);
    expect(await codes(rule('b', ['开发票']), rule('a', ['发票'], { languages: ['zh'] }))).toEqual([]);
    expect(await codes(rule('b', ['开发票']), rule('a', ['发票'], { match: 'prefix' }))).toEqual([]);
    expect(
      await codes(rule('b', ['order 7'], { match: 'exact' }), rule('a', ['^order \\d$'], { match: 'regex' })),
    ).toEqual([['unreachable', 'a']]);
  });

  it('tells of a capability that nobody registered', async () => {
    expect(await codes(rule('b', ['天气'], { capability: 'weather.query.city' }))).toEqual([
      ['unknown_capability', undefined],
    ]);
  });

  it.each([
    ['票', 'contains', true],
    ['发票', 'contains', false],
    ['go', 'contains', true],
    ['go', 'exact', false],
    ['c#', 'contains', false],
    ['a', 'prefix', true],
    ['a*', 'regex', true],
    ['a+', 'regex', false],
  ] as const)('calls %j as %s very broad: %s', async (pattern, match, isBroad) => {
    expect(await codes(rule('b', [pattern], { match }))).toEqual(isBroad ? [['very_broad', undefined]] : []);
  });
});
