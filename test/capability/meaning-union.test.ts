import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CapabilityDefinition } from '../../src/capability/capability-definition.ts';
import { parseCapabilityName } from '../../src/capability/capability-name.ts';
import { capabilityTexts } from '../../src/capability/capability-text.ts';
import type { DictionaryEntry } from '../../src/capability/dictionary.ts';
import { unionMeaning } from '../../src/capability/meaning-union.ts';

const NAME = parseCapabilityName('weather.query.city');
const ENTRY: DictionaryEntry = {
  namespace: 'default',
  name: NAME,
  firstOwner: null,
  firstSeenAt: 0,
  status: 'active',
  replacedBy: null,
  sensitive: false,
  description: 'Forecasts',
  examples: ['wind'],
  revision: 2,
};
const words = fc.constantFrom('Rain?', 'rain?', 'ＲＡＩＮ?', '下雨吗', ' 下雨吗', 'forecast', 'wind');
const definition: fc.Arbitrary<CapabilityDefinition> = fc.record({
  name: fc.constant(NAME),
  description: fc.option(words),
  examples: fc.array(words, { maxLength: 4 }),
  aliases: fc.array(words, { maxLength: 4 }),
  sensitive: fc.boolean(),
});
const shuffled = fc
  .array(definition, { maxLength: 6 })
  .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));

describe('unionMeaning', () => {
  it('does not depend on the order of registration', () => {
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(unionMeaning('default', NAME, other, ENTRY)).toEqual(unionMeaning('default', NAME, list, ENTRY));
      }),
    );
  });

  it('changes nothing when a thing is said twice', () => {
    fc.assert(
      fc.property(fc.array(definition), (list) => {
        const twice = unionMeaning('default', NAME, [...list, ...list], undefined);
        expect(twice).toEqual(unionMeaning('default', NAME, list, undefined));
      }),
    );
  });

  it('joins the words of all agents and of the operator', () => {
    const base = { name: NAME, aliases: [], sensitive: false };
    const meaning = unionMeaning(
      'default',
      NAME,
      [
        { ...base, description: 'City weather', examples: ['rain?', '下雨吗'] },
        { ...base, description: null, examples: ['Rain?'], sensitive: true },
      ],
      ENTRY,
    );
    expect(meaning).toEqual({
      namespace: 'default',
      name: NAME,
      descriptions: ['City weather', 'Forecasts'],
      aliases: [],
      examples: ['Rain?', 'wind', '下雨吗'],
      sensitive: true,
    });
  });

  it('is sensitive when the dictionary says so alone', () => {
    expect(unionMeaning('default', NAME, [], { ...ENTRY, sensitive: true }).sensitive).toBe(true);
  });
});

describe('capabilityTexts', () => {
  it('makes one text of each thing said, the name in words first, repeats once', () => {
    const texts = capabilityTexts({
      namespace: 'default',
      name: parseCapabilityName('weather.query.big_city'),
      descriptions: ['City weather'],
      aliases: ['forecast', 'weather query big city'],
      examples: ['forecast', '下雨吗'],
      sensitive: false,
    });
    expect(texts).toEqual([
      { kind: 'name', text: 'weather query big city' },
      { kind: 'description', text: 'City weather' },
      { kind: 'alias', text: 'forecast' },
      { kind: 'example', text: '下雨吗' },
    ]);
  });
});
