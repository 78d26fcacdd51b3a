import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentReachError, isAgentReachError } from '../../../src/core/index.ts';
import { DEFAULT_ROUTING, optionsFor } from '../../../src/routing/routing-options.ts';
import { readStrategies, strategyWarnings } from '../../../src/routing/strategies/strategy-document.ts';
import { MAX_STRATEGY_FILE_BYTES, readStrategyText } from '../../../src/routing/strategies/strategy-file.ts';
import { compileStrategies, effectivePolicies } from '../../../src/routing/strategies/strategy-set.ts';

function refusalOf(text: string): AgentReachError {
  try {
    readStrategyText(text);
  } catch (error) {
    if (isAgentReachError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a strategies document', () => {
  it('may say nothing', () => {
    expect(readStrategyText('{}')).toEqual({});
    expect(readStrategyText('default: {}\ncapabilities: {}\n')).toEqual({ default: {}, capabilities: {} });
  });

  it('reads YAML and JSON alike', () => {
    const yaml = 'capabilities:\n  weather.*:\n    strategies: [{name: canary, version: "2.*", share: 0.1}, best]\n';
    const json = JSON.stringify({
      capabilities: { 'weather.*': { strategies: [{ name: 'canary', version: '2.*', share: 0.1 }, 'best'] } },
    });
    expect(readStrategyText(yaml)).toEqual(readStrategyText(json));
  });

  it.each([
    ['an empty file', '', '', 'is empty'],
    ['only a comment', '# later\n', '', 'is empty'],
    ['broken YAML', 'default:\n  weights: [\n', '', 'is not well-formed YAML'],
    ['a name twice', 'default: {}\ndefault: {}\n', '', '(line 2)'],
    ['a list', '- best\n', '', 'must be a section of keys'],
    ['an unknown key', 'defualt: {}\n', 'defualt', 'did you mean "default"? (line 1)'],
    ['an unknown field', 'default:\n  wieghts: {}\n', 'default.wieghts', 'did you mean "weights"? (line 2)'],
    [
      'an unknown factor',
      'default:\n  weights:\n    relevance: 0.5\n    lod: 0.5\n',
      'default.weights.lod',
      'did you mean "load"? (line 4)',
    ],
    [
      'a negative weight',
      'default:\n  weights: {relevance: 1.2, load: -0.2}\n',
      'default.weights.relevance',
      'must be at most 1 (line 2)',
    ],
    ['NaN', 'default:\n  weights: {relevance: .nan}\n', 'default.weights.relevance', 'must be a number (line 2)'],
    ['infinity', 'default:\n  queueLoad: .inf\n', 'default.queueLoad', '(line 2)'],
    [
      'weights that sum to 0.9',
      'default:\n  weights:\n    relevance: 0.5\n    load: 0.4\n',
      'default.weights',
      'must sum to 1, but sum to 0.9 (line 2)',
    ],
    ['no weight', 'default: {weights: {}}\n', 'default.weights', 'must sum to 1, but sum to 0'],
    [
      'an unknown strategy',
      'default:\n  strategies:\n    - best\n    - afinity\n',
      'default.strategies[1]',
      'did you mean "affinity"? (line 4)',
    ],
    [
      'a strategy twice',
      'default: {strategies: [affinity, affinity]}\n',
      'default.strategies[1]',
      'affinity is named twice',
    ],
    [
      'a draw that is not the last',
      'default: {strategies: [best, affinity]}\n',
      'default.strategies[0]',
      'nothing can come after it',
    ],
    [
      'an unknown parameter',
      'default:\n  strategies:\n    - name: affinity\n      maxload: 1\n',
      'default.strategies[0].maxload',
      'did you mean "maxLoad"? (line 4)',
    ],
    [
      'a share over 1',
      'default:\n  strategies:\n    - {name: canary, tag: t, share: 5}\n',
      'default.strategies[0].share',
      'must be at most 1 (line 3)',
    ],
    [
      'a canary without a share',
      'default: {strategies: [{name: canary, tag: t}]}\n',
      'default.strategies[0].share',
      'must be a number',
    ],
    [
      'a canary of nobody',
      'default: {strategies: [{name: canary, share: 0.1}]}\n',
      'default.strategies[0]',
      'give either tag or version',
    ],
    [
      'a canary by its name alone',
      'capabilities: {weather.*: {strategies: [affinity, canary]}}\n',
      'capabilities["weather.*"].strategies[1].share',
      'must be a number',
    ],
    [
      'a tag value beside a version',
      'default: {strategies: [{name: canary, version: "2.*", value: next, share: 0.1}]}\n',
      'default.strategies[0].value',
      'leave it out where version is given',
    ],
    [
      'a step that is a number',
      'default: {strategies: [7]}\n',
      'default.strategies[0]',
      'must be the name of a strategy',
    ],
    [
      'a bad pattern',
      'capabilities:\n  "*.query.city": {}\n',
      'capabilities["*.query.city"]',
      'a pattern is domain.* or domain.action.* (line 2)',
    ],
    ['a bad name', 'capabilities:\n  weather: {}\n', 'capabilities.weather', 'has 1 segment'],
    [
      'a bad number in an override',
      'capabilities:\n  weather.*:\n    leastLoaded: 0\n',
      'capabilities["weather.*"].leastLoaded',
      'must be at least 1 (line 3)',
    ],
    ['half an agent', 'default: {manyCandidates: 2.5}\n', 'default.manyCandidates', 'must be a whole number'],
  ])('is refused for %s, with its place', (_, text, path, message) => {
    const error = refusalOf(text);
    expect(error.code).toBe('AR_ERR_INVALID_STRATEGIES');
    expect(error.issues.map((issue) => issue.path)).toContain(path);
    expect(error.issues.find((issue) => issue.path === path)?.message).toContain(message);
    expect(error.message).toContain(message);
  });

  it('is refused where aliases multiply it, and where it is larger than a megabyte', () => {
    const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i++)
      bomb.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(refusalOf(bomb.join('\n')).message).toContain('alias');
    expect(refusalOf(`# ${'x'.repeat(MAX_STRATEGY_FILE_BYTES)}`).message).toContain('is larger than');
  });

  it('finds the line of a flaw behind an alias, and survives odd keys', () => {
    const text = 'default: &shared\n  weights:\n    relevance: 0.7\ncapabilities:\n  weather.*: *shared\n';
    const error = refusalOf(text);
    expect(error.issues.map(({ path }) => path)).toEqual(['default.weights', 'capabilities["weather.*"].weights']);
    for (const { message } of error.issues) expect(message).toContain('(line 2)');
    expect(refusalOf('? [a, b]\n: 1\n').code).toBe('AR_ERR_INVALID_STRATEGIES');
    expect(refusalOf('__proto__: {}\n').code).toBe('AR_ERR_INVALID_STRATEGIES');
  });

  it('tells at most 32 flaws and counts the rest', () => {
    const names = Array.from({ length: 50 }, (_, i) => `  bad${i}: {}`).join('\n');
    const error = refusalOf(`capabilities:\n${names}\n`);
    expect(error.issues).toHaveLength(32);
    expect(error.message).toContain('and 18 more');
  });

  it('is sound or refused with a code, whatever it holds', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => {
        try {
          readStrategies(value);
        } catch (error) {
          expect(isAgentReachError(error) && error.code).toBe('AR_ERR_INVALID_STRATEGIES');
        }
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          readStrategyText(text);
        } catch (error) {
          expect(isAgentReachError(error) && error.code).toBe('AR_ERR_INVALID_STRATEGIES');
        }
      }),
    );
  });

  it('warns of a canary that comes too late for requests with a key', () => {
    const late = readStrategyText('default: {strategies: [affinity, {name: canary, tag: t, share: 0.1}]}\n');
    expect(strategyWarnings(late).map(({ path }) => path)).toEqual(['default.strategies[1]']);
    const early = readStrategyText('default: {strategies: [{name: canary, tag: t, share: 0.1}, affinity]}\n');
    expect(strategyWarnings(early)).toEqual([]);
  });
});

describe('overrides', () => {
  const options = compileStrategies(
    DEFAULT_ROUTING,
    readStrategies({
      default: { queueLoad: 0.9, strategies: ['affinity'] },
      capabilities: {
        'weather.query.city': { leastLoaded: 1 },
        'weather.*': { queueLoad: 0.7, manyCandidates: 9 },
        'weather.query.*': { strategies: ['capacity_first'], queueLoad: 0.6 },
        'mail.send.message': { queueLoad: 0.5 },
      },
    }),
  );

  it.each([
    ['weather.query.city', 'weather.query.city', 0.6, 'capacity_first', 9, 1],
    ['weather.query.river', 'weather.query.*', 0.6, 'capacity_first', 9, 5],
    ['weather.warn.storm', 'weather.*', 0.7, 'affinity,best', 9, 5],
    ['mail.send.message', 'mail.send.message', 0.5, 'affinity,best', 20, 5],
    ['mail.send.letter', 'default', 0.9, 'affinity,best', 20, 5],
    ['weatherman.query.city', 'default', 0.9, 'affinity,best', 20, 5],
    [undefined, 'default', 0.9, 'affinity,best', 20, 5],
  ])('the most specific wins, field by field: %s', (capability, policy, queueLoad, names, many, least) => {
    const found = optionsFor(options, capability);
    expect(found.policy).toBe(policy);
    expect(found.queueLoad).toBe(queueLoad);
    expect(found.strategies.map(({ name }) => name).join()).toBe(names);
    expect([found.manyCandidates, found.leastLoaded]).toEqual([many, least]);
    expect(found.strategiesVersion).toBe(options.strategiesVersion);
  });

  it('is the same version for the same content, whatever its order, and another for another', () => {
    const version = (document: unknown) =>
      compileStrategies(DEFAULT_ROUTING, readStrategies(document)).strategiesVersion;
    const one = { 'a.*': { queueLoad: 0.5 }, 'b.*': { weights: { load: 0.4, relevance: 0.6 } } };
    const other = { 'b.*': { weights: { relevance: 0.6, load: 0.4 } }, 'a.*': { queueLoad: 0.5 } };
    expect(version({ capabilities: one })).toBe(version({ capabilities: other }));
    expect(version({ capabilities: one })).toMatch(/^[0-9a-f]{12}$/);
    expect(version({ capabilities: { ...one, 'a.*': { queueLoad: 0.4 } } })).not.toBe(version({ capabilities: one }));
    // Said in words or by default is one content.
    expect(version({ default: { queueLoad: DEFAULT_ROUTING.queueLoad } })).toBe(version({}));
  });

  it('shows what is in force with every field', () => {
    const { default: base, capabilities } = effectivePolicies(options);
    expect(base.strategies).toEqual([
      { name: 'affinity', maxLoad: 1 },
      { name: 'best', within: 0 },
    ]);
    expect(Object.keys(capabilities).sort()).toEqual(
      ['mail.send.message', 'weather.*', 'weather.query.*', 'weather.query.city'].sort(),
    );
  });

  it('finds the narrowest of any set of patterns', () => {
    const segment = fc.constantFrom('a', 'b', 'c');
    const pattern = fc.oneof(
      fc.tuple(segment, segment, segment).map((parts) => parts.join('.')),
      fc.tuple(segment, segment).map((parts) => `${parts.join('.')}.*`),
      segment.map((part) => `${part}.*`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(pattern), segment, segment, segment, (patterns, a, b, c) => {
        const capabilities = Object.fromEntries(patterns.map((one) => [one, {}]));
        const compiled = compileStrategies(DEFAULT_ROUTING, { capabilities });
        const narrowest = [`${a}.${b}.${c}`, `${a}.${b}.*`, `${a}.*`].find((one) => patterns.includes(one));
        expect(optionsFor(compiled, `${a}.${b}.${c}`).policy).toBe(narrowest ?? 'default');
      }),
    );
  });
});
