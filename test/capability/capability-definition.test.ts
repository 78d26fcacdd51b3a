import { describe, expect, it } from 'vitest';
import { checkSchemas, readDefinitions } from '../../src/capability/capability-definition.ts';
import type { CapabilityInput } from '../../src/contract/index.ts';

const read = (...inputs: CapabilityInput[]) => readDefinitions(inputs, ['weather.query.city']);

function failure(...inputs: CapabilityInput[]): unknown {
  try {
    read(...inputs);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('readDefinitions', () => {
  it('reads a bare name', () => {
    expect(read('weather.query.city')).toEqual([
      { name: 'weather.query.city', description: null, examples: [], aliases: [], sensitive: false },
    ]);
  });

  it('trims texts, leaves repeats out, takes a blank description for none', () => {
    const [definition] = read({
      name: 'weather.query.city',
      description: '  ',
      examples: [' 明天下雨吗 ', '明天下雨吗', 'Rain?', 'ＲＡＩＮ?'],
      aliases: ['forecast', 'Forecast', 'weather.query.city'],
      sensitive: true,
      timeoutMs: 100,
      idempotent: true,
      inputSchema: { type: 'object' },
    });
    expect(definition).toEqual({
      name: 'weather.query.city',
      description: null,
      examples: ['明天下雨吗', 'Rain?'],
      aliases: ['forecast'],
      sensitive: true,
      timeoutMs: 100,
      idempotent: true,
      inputSchema: { type: 'object' },
    });
  });

  it('names every malformed name and what was meant', () => {
    expect(failure('weather.qurey.City', { name: 'x' }, 'a.b.c')).toMatchObject({
      code: 'AR_ERR_INVALID_CAPABILITY',
      issues: [{ path: 'capabilities[0]' }, { path: 'capabilities[1].name' }],
      suggestions: ['weather.query.city'],
    });
  });

  it('refuses a name given twice', () => {
    expect(failure('a.b.c', { name: 'a.b.c' })).toMatchObject({
      code: 'AR_ERR_INVALID_REQUEST',
      issues: [{ path: 'capabilities[1]', message: 'a.b.c is given already at capabilities[0]' }],
    });
  });

  it.each(['   ', '🙂', '!?', '\u200b'])('refuses the example and the alias %j', (text) => {
    expect(failure({ name: 'a.b.c', examples: ['fine', text], aliases: [text] })).toMatchObject({
      code: 'AR_ERR_INVALID_REQUEST',
      issues: [{ path: 'capabilities[0].examples[1]' }, { path: 'capabilities[0].aliases[0]' }],
    });
  });

  it('refuses an alias that leads to two capabilities, or is the name of another', () => {
    const shared = failure({ name: 'a.b.c', aliases: ['开票'] }, { name: 'a.b.d', aliases: [' 开票 '] });
    expect(shared).toMatchObject({ code: 'AR_ERR_INVALID_REQUEST', issues: [{ path: 'capabilities[1].aliases' }] });
    const taken = failure({ name: 'a.b.c', aliases: ['A.B.D'] }, 'a.b.d');
    expect(taken).toMatchObject({ code: 'AR_ERR_INVALID_REQUEST', issues: [{ path: 'capabilities[0].aliases' }] });
  });

  it('refuses an unusable input schema with its place', async () => {
    const definitions = read('a.b.d', { name: 'a.b.c', inputSchema: { type: 'strin' } });
    await expect(checkSchemas(definitions)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_SCHEMA',
      issues: [{ path: 'capabilities[1].inputSchema' }],
    });
  });
});
