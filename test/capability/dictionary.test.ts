import { describe, expect, it } from 'vitest';
import { type CapabilityDefinition, readDefinitions } from '../../src/capability/capability-definition.ts';
import {
  type Admission,
  CapabilityDictionary,
  type DictionaryMode,
  MAX_PROPOSALS,
} from '../../src/capability/dictionary.ts';
import type { CapabilityInput } from '../../src/contract/index.ts';

const REGISTRANT = { namespace: 'default', agentId: 'weather-1', now: 1_000 };
const define = (...inputs: CapabilityInput[]): CapabilityDefinition[] => readDefinitions(inputs, []);

function dictionaryWith(mode: DictionaryMode, ...names: string[]): CapabilityDictionary {
  const open = new CapabilityDictionary('open');
  const admission = open.admit(define(...names), REGISTRANT);
  const dictionary = new CapabilityDictionary(mode);
  if (admission.ok) dictionary.load(admission.entries);
  return dictionary;
}

function accepted(admission: Admission): Extract<Admission, { ok: true }> {
  if (!admission.ok) throw admission.error;
  return admission;
}

function refused(admission: Admission): Extract<Admission, { ok: false }> {
  if (admission.ok) throw new Error('was admitted');
  return admission;
}

describe('an open dictionary', () => {
  it('takes any well-formed name and remembers its first owner', () => {
    const dictionary = new CapabilityDictionary();
    const first = accepted(dictionary.admit(define('weather.query.city'), REGISTRANT));
    expect(first).toEqual({
      ok: true,
      warnings: [],
      entries: [
        {
          namespace: 'default',
          name: 'weather.query.city',
          firstOwner: 'weather-1',
          firstSeenAt: 1_000,
          status: 'active',
          replacedBy: null,
          sensitive: false,
          description: null,
          examples: [],
          revision: 0,
        },
      ],
    });
    expect(dictionary.get('default', 'weather.query.city')).toBeUndefined();
    dictionary.apply(first.entries);
    const later = { ...REGISTRANT, agentId: 'weather-2', now: 2_000 };
    expect(accepted(dictionary.admit(define('weather.query.city'), later)).entries).toEqual([]);
    expect(dictionary.get('default', 'weather.query.city')?.firstOwner).toBe('weather-1');
  });

  it('keeps namespaces apart', () => {
    const dictionary = dictionaryWith('open', 'weather.query.city');
    expect(dictionary.get('other', 'weather.query.city')).toBeUndefined();
    expect(dictionary.names('other')).toEqual([]);
    const elsewhere = accepted(dictionary.admit(define('weather.query.citi'), { ...REGISTRANT, namespace: 'other' }));
    expect(elsewhere.warnings).toEqual([]);
  });

  it('warns of a name that is nearly another one', () => {
    const dictionary = dictionaryWith('open', 'weather.query.city');
    const { warnings } = accepted(dictionary.admit(define('query.weather.city'), REGISTRANT));
    expect(warnings).toMatchObject([{ code: 'near_duplicate_name', capability: 'query.weather.city' }]);
    expect(warnings[0]?.message).toContain('weather.query.city');
  });

  it('warns at a deprecated name and names the last of its successors', () => {
    const dictionary = dictionaryWith('open', 'a.get.old', 'a.get.middle', 'a.get.newest');
    dictionary.apply([dictionary.update('default', 'a.get.old', { status: 'deprecated', replacedBy: 'a.get.middle' })]);
    dictionary.apply([
      dictionary.update('default', 'a.get.middle', { status: 'deprecated', replacedBy: 'a.get.newest' }),
    ]);
    const { warnings, entries } = accepted(dictionary.admit(define('a.get.old'), REGISTRANT));
    expect(entries).toEqual([]);
    expect(warnings).toEqual([
      {
        code: 'deprecated_capability',
        message: 'a.get.old is deprecated; use a.get.newest',
        capability: 'a.get.old',
      },
    ]);
  });

  it('approves what was proposed in curated days when it is registered', () => {
    const dictionary = dictionaryWith('open', 'a.b.c');
    dictionary.apply([dictionary.update('default', 'a.b.c', { status: 'proposed' })]);
    expect(accepted(dictionary.admit(define('a.b.c'), REGISTRANT)).entries).toMatchObject([{ status: 'active' }]);
  });

  it('keeps a name sensitive once anybody said so, until an operator clears it', () => {
    const dictionary = dictionaryWith('open', 'user.delete.account');
    const said = accepted(dictionary.admit(define({ name: 'user.delete.account', sensitive: true }), REGISTRANT));
    expect(said.entries).toMatchObject([{ sensitive: true, firstSeenAt: 1_000 }]);
    dictionary.apply(said.entries);
    expect(accepted(dictionary.admit(define('user.delete.account'), REGISTRANT)).entries).toEqual([]);
    dictionary.apply([dictionary.update('default', 'user.delete.account', { sensitive: false })]);
    expect(dictionary.get('default', 'user.delete.account')?.sensitive).toBe(false);
  });
});

describe('a curated dictionary', () => {
  it('files no more proposals of one namespace than wait at most, and refuses the rest all the same', () => {
    const dictionary = new CapabilityDictionary('curated');
    const propose = (from: number, to: number, namespace = 'default') => {
      const names = Array.from({ length: to - from }, (_, i) => `bulk.run.task_${from + i}`);
      const { proposed, error } = refused(dictionary.admit(define(...names), { ...REGISTRANT, namespace }));
      dictionary.apply(proposed);
      return { filed: proposed.length, code: error.code, last: error.issues.at(-1)?.message };
    };
    expect(propose(0, MAX_PROPOSALS - 1).filed).toBe(MAX_PROPOSALS - 1);
    const over = propose(MAX_PROPOSALS - 1, MAX_PROPOSALS + 4);
    expect(over).toMatchObject({ filed: 1, code: 'AR_ERR_CAPABILITY_NOT_APPROVED' });
    expect(over.last).toContain('not filed');
    expect(propose(MAX_PROPOSALS + 10, MAX_PROPOSALS + 11).filed).toBe(0);
    expect(propose(0, 1).last).toContain('is filed as proposed');
    expect(propose(0, 1, 'other').filed).toBe(1);
    expect(dictionary.list({ status: 'proposed', namespace: 'default' })).toHaveLength(MAX_PROPOSALS);
  });

  it('takes approved names', () => {
    const dictionary = dictionaryWith('curated', 'weather.query.city');
    expect(accepted(dictionary.admit(define('weather.query.city'), REGISTRANT)).entries).toEqual([]);
  });

  it('refuses a registration with an unknown name, files it as proposed, says what is near', () => {
    const dictionary = dictionaryWith('curated', 'weather.query.city');
    const refusal = refused(
      dictionary.admit(
        define({ name: 'weather.query.city', sensitive: true }, { name: 'weather.query.cities', sensitive: true }),
        REGISTRANT,
      ),
    );
    expect(refusal.error).toMatchObject({
      code: 'AR_ERR_CAPABILITY_NOT_APPROVED',
      issues: [{ path: 'capabilities[1]' }],
      suggestions: ['weather.query.city'],
    });
    expect(refusal.proposed).toMatchObject([
      { name: 'weather.query.cities', status: 'proposed', sensitive: true, firstOwner: 'weather-1' },
    ]);
  });

  it('files a proposal once, does not suggest it, and takes it after approval', () => {
    const dictionary = dictionaryWith('curated');
    dictionary.apply(refused(dictionary.admit(define('a.b.c'), REGISTRANT)).proposed);
    const again = refused(dictionary.admit(define('a.b.c', 'a.b.cc'), { ...REGISTRANT, agentId: 'other' }));
    expect(again.proposed.map((entry) => entry.name)).toEqual(['a.b.cc']);
    expect(again.error.suggestions).toEqual([]);
    dictionary.apply([dictionary.update('default', 'a.b.c', { status: 'active' })]);
    expect(accepted(dictionary.admit(define('a.b.c'), REGISTRANT)).warnings).toEqual([]);
  });

  it('refuses a deprecated name and suggests its successor', () => {
    const dictionary = dictionaryWith('curated', 'a.get.old', 'a.get.newest');
    dictionary.apply([dictionary.update('default', 'a.get.old', { status: 'deprecated', replacedBy: 'a.get.newest' })]);
    const refusal = refused(dictionary.admit(define('a.get.old'), REGISTRANT));
    expect(refusal.proposed).toEqual([]);
    expect(refusal.error).toMatchObject({
      code: 'AR_ERR_CAPABILITY_DEPRECATED',
      message: 'a.get.old is deprecated; use a.get.newest',
      suggestions: ['a.get.newest'],
    });
  });
});

describe('an operator', () => {
  const dictionary = dictionaryWith('curated', 'a.get.old', 'a.get.newest', 'a.get.gone');
  dictionary.apply([dictionary.update('default', 'a.get.gone', { status: 'deprecated', replacedBy: 'a.get.newest' })]);

  it.each([
    ['a.get.old', { status: 'deprecated' }, 'AR_ERR_INVALID_REQUEST', 'is needed'],
    ['a.get.old', { status: 'deprecated', replacedBy: null }, 'AR_ERR_INVALID_REQUEST', 'is needed'],
    ['a.get.old', { status: 'deprecated', replacedBy: 'a.get.old' }, 'AR_ERR_INVALID_REQUEST', 'another name'],
    [
      'a.get.old',
      { status: 'deprecated', replacedBy: 'a.get.none' },
      'AR_ERR_INVALID_REQUEST',
      'not in the dictionary',
    ],
    ['a.get.old', { status: 'deprecated', replacedBy: 'a.get.gone' }, 'AR_ERR_INVALID_REQUEST', 'must be active'],
    ['a.get.old', { status: 'deprecated', replacedBy: 'nonsense' }, 'AR_ERR_INVALID_CAPABILITY', '1 segment'],
    ['a.get.old', { replacedBy: 'a.get.newest' }, 'AR_ERR_INVALID_REQUEST', 'deprecated only'],
    ['a.get.none', { status: 'active' }, 'AR_ERR_CAPABILITY_NOT_FOUND', 'not in the dictionary'],
    ['A.get.old', { status: 'active' }, 'AR_ERR_INVALID_CAPABILITY', 'upper case'],
  ] as const)('is refused at %s %j', (name, update, code, message) => {
    let caught: unknown;
    try {
      dictionary.update('default', name, update);
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('brings a deprecated name back and forgets its successor', () => {
    const entry = dictionary.update('default', 'a.get.gone', { status: 'active' });
    expect(entry).toMatchObject({ status: 'active', replacedBy: null });
  });

  it("takes an operator's examples in place of those before, trimmed, once each, at most 64", () => {
    const first = dictionary.update('default', 'a.get.old', { examples: [' One ', 'ＯＮＥ', 'two'] });
    expect(first).toMatchObject({ examples: ['One', 'two'], revision: 1 });
    dictionary.apply([first]);
    const second = dictionary.update('default', 'a.get.old', { description: 'Old' });
    expect(second).toMatchObject({ examples: ['One', 'two'], revision: 2 });
    const many = Array.from({ length: 65 }, (_, at) => `example ${at}`);
    for (const examples of [many, ['🙂']]) {
      expect(() => dictionary.update('default', 'a.get.old', { examples })).toThrow(
        expect.objectContaining({ code: 'AR_ERR_INVALID_REQUEST' }),
      );
    }
  });

  it('sets and clears words of their own', () => {
    expect(dictionary.update('default', 'a.get.old', { description: ' Old one ' }).description).toBe('Old one');
    expect(dictionary.update('default', 'a.get.old', { description: ' ' }).description).toBeNull();
  });

  it('lists by domain, status and namespace, in order of name', () => {
    const names = (options: Parameters<CapabilityDictionary['list']>[0]) =>
      dictionary.list(options).map((entry) => entry.name);
    expect(names({})).toEqual(['a.get.gone', 'a.get.newest', 'a.get.old']);
    expect(names({ status: 'deprecated' })).toEqual(['a.get.gone']);
    expect(names({ domain: 'b' })).toEqual([]);
    expect(names({ namespace: 'other' })).toEqual([]);
  });
});
