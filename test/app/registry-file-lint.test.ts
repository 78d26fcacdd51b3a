import { describe, expect, it } from 'vitest';
import { lintFile } from '../../src/app/index.ts';
import { lintFindingSchema } from '../../src/contract/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';

const agent = (agentId: string, capabilities: readonly unknown[], more: Record<string, unknown> = {}) => ({
  agentId,
  capabilities,
  transport: { type: 'http', endpoint: `http://127.0.0.1:9/${agentId}` },
  ...more,
});
const whole = (name: string, description: string, more: Record<string, unknown> = {}) => ({
  name,
  description,
  examples: [`${description} please`],
  ...more,
});

async function lint(registrations: readonly Record<string, unknown>[], rules: readonly Record<string, unknown>[] = []) {
  const findings = await lintFile({ registrations, rules, minSimilarity: 0.9 }, { embedder: new HashEmbedder() });
  for (const finding of findings) lintFindingSchema.parse(finding);
  return findings.map(({ level, code, capability }) => `${level} ${code} ${capability}`);
}

const WEATHER = whole('weather.query.city', 'weather forecast for a city');
const MAIL = whole('mail.send.message', 'send an email to somebody');

describe('lint of a registry file', () => {
  it('finds nothing wrong with two whole capabilities', async () => {
    expect(await lint([agent('a', [WEATHER]), agent('b', [MAIL])])).toEqual([]);
  });

  it.each([
    ['a bare name', [agent('a', ['a.b.c'])], ['warning missing_description a.b.c', 'warning missing_examples a.b.c']],
    ['a bad name', [agent('a', [WEATHER, 'weather.qurey'])], ['error invalid_name weather.qurey']],
    ['an agent of bad names alone', [agent('a', ['x']), agent('b', [MAIL])], ['error invalid_name x']],
    [
      'an endpoint that is none',
      [agent('a', [MAIL], { transport: { type: 'http', endpoint: 'ftp://x' } })],
      ['error invalid_registration null'],
    ],
    ['an unknown field', [agent('a', [MAIL], { colour: 'red' })], ['error invalid_registration null']],
    [
      'one example of two capabilities',
      [agent('a', [WEATHER]), agent('b', [{ ...MAIL, examples: ['Weather forecast for a CITY please'] }])],
      ['error duplicate_example weather.query.city'],
    ],
    [
      "an alias that is another's name",
      [agent('a', [WEATHER]), agent('b', [{ ...MAIL, aliases: ['weather.query.city'] }])],
      ['error alias_claims_name mail.send.message'],
    ],
    [
      'one alias of two capabilities',
      [agent('a', [{ ...WEATHER, aliases: ['go'] }]), agent('b', [{ ...MAIL, aliases: ['Go'] }])],
      ['error shared_alias weather.query.city'],
    ],
    [
      'two descriptions that say the same',
      [agent('a', [WEATHER]), agent('b', [{ ...MAIL, description: 'weather forecast for a city!' }])],
      ['warning near_duplicate_text mail.send.message'],
    ],
    [
      'names one letter apart',
      [agent('a', [MAIL]), agent('b', [whole('mail.send.messages', 'many letters by post')])],
      ['warning near_duplicate_name mail.send.message'],
    ],
    [
      'a sensitive one',
      [agent('a', [{ ...MAIL, sensitive: true }])],
      ['warning sensitive_without_rule mail.send.message'],
    ],
  ])('finds %s', async (_what, registrations, expected) => {
    const found = await lint(registrations);
    for (const one of expected) expect(found).toContain(one);
    const errors = (list: readonly string[]) => list.filter((one) => one.startsWith('error'));
    expect(errors(found)).toEqual(errors(expected));
  });

  it('looks at more texts than one batch may explain', async () => {
    const many = Array.from({ length: 12 }, (_, at) => whole(`bulk${at}.run.job`, `word${at} of its own`));
    expect(await lint([agent('a', many)])).not.toContain('error invalid_registration null');
  });

  it('is content with a sensitive capability that a rule leads to', async () => {
    const rule = { id: 'mail', match: 'exact', patterns: ['mail now'], capability: 'mail.send.message' };
    expect(await lint([agent('a', [{ ...MAIL, sensitive: true }])], [rule])).toEqual([]);
  });

  it('says what was probably meant, in words', async () => {
    const registrations = [agent('a', [WEATHER, 'weather.qurey.city.x'])];
    const findings = await lintFile({ registrations, rules: [], minSimilarity: 0.9 }, { embedder: new HashEmbedder() });
    expect(findings[0]?.message).toContain('did you mean weather.query.city?');
  });

  it('refuses a rule that cannot be compiled', async () => {
    await expect(lint([agent('a', [MAIL])], [{ id: 'x', match: 'regex', patterns: ['('] }])).rejects.toThrow('rule 1');
  });
});
