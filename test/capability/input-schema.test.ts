import { describe, expect, it } from 'vitest';
import { assertInputSchemas, type InputSchema } from '../../src/capability/input-schema.ts';

function nested(depth: number): InputSchema {
  let schema: InputSchema = { type: 'string' };
  for (let level = 0; level < depth; level++) schema = { not: schema };
  return schema;
}

/** Forty definitions of two references each: 2^40 checks of one value in 3 kB. */
const billionLaughs: InputSchema = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, index === 39 ? { type: 'string' } : { allOf: [next, next] }];
    }),
  ),
};

const check = (schema: InputSchema, path = 'inputSchema') => assertInputSchemas([{ path, schema }]);

describe('assertInputSchemas', () => {
  it.each<[string, InputSchema]>([
    ['a boolean', false],
    ['an empty schema', {}],
    ['an object', { type: 'object', properties: { city: { type: 'string', format: 'email' } }, required: ['city'] }],
    ['the dialect by name', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' }],
    ['a tree', { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }],
    ['an anchor', { $defs: { a: { $anchor: 'city', type: 'string' } }, properties: { p: { $ref: '#city' } } }],
    ['a dynamic anchor', { $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } } }],
    ['a keyword of its own', { type: 'string', 'x-label': 'City' }],
    ['an unknown format', { type: 'string', format: 'licence-plate' }],
    ['a property called $ref', { properties: { $ref: { type: 'string' } } }],
    ['a $ref inside data', { const: { $ref: 'http://example.com/' } }],
    ['an exponential pattern, run in linear time', { pattern: '^(a+)+$' }],
    ['a pattern of scripts', { pattern: '^\\p{Han}+$' }],
    ['its own $id', { $id: 'https://example.com/city', type: 'string' }],
  ])('takes %s', async (_what, schema) => {
    await expect(check(schema)).resolves.toBeUndefined();
  });

  it.each<[string, InputSchema, RegExp]>([
    ['a type that is none', { type: 'strin' }, /type/],
    ['a bound that is no number', { minimum: '1' }, /minimum/],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, /\$schema must be/],
    ['a remote reference', { items: { $ref: 'https://example.com/s' } }, /leaves the schema/],
    ['a reference to a file', { $ref: 'file:///etc/passwd' }, /leaves the schema/],
    ['a reference to the meta-schema', { $ref: 'https://json-schema.org/draft/2020-12/schema' }, /leaves the schema/],
    ['a reference that is no text', { $ref: 7 }, /leaves the schema/],
    ['a reference to nothing', { $ref: '#/$defs/none' }, /leads to nothing/],
    ['a reference out of the schema', { $ref: '#/constructor/prototype' }, /leads to nothing/],
    ['a reference that is no text encoding', { $ref: '#/%ff' }, /leads to nothing/],
    ['a reference to itself', { $ref: '#' }, /leads back to itself/],
    ['a loop through anyOf', { anyOf: [{ type: 'string' }, { not: { $ref: '#' } }] }, /leads back to itself/],
    ['multiplying references', billionLaughs, /multiply/],
    ['a nested $id', { $defs: { a: { $id: 'https://example.com/a' } } }, /\$id/],
    ['an asynchronous schema', { $async: true }, /\$async/],
    ['look-ahead', { pattern: '(?=a)b' }, /regexp/],
    ['a back reference', { pattern: '(a)\\1' }, /regexp/],
    ['a long pattern', { pattern: 'a'.repeat(1_001) }, /1001 characters/],
    ['an explosive repetition', { pattern: '((a{100}){100}){100}' }, /regexp/],
    ['deep nesting', nested(65), /deeper than 64/],
    ['very deep nesting', nested(50_000), /deeper than 64/],
    ['a thousand subschemas', { anyOf: Array.from({ length: 1_000 }, () => ({})) }, /more than 1000 subschemas/],
    ['more than 64 KB', { description: '字'.repeat(22_000) }, /at most 65536/],
  ])('refuses %s', async (_what, schema, message) => {
    await expect(check(schema, 'capabilities[2].inputSchema')).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_SCHEMA',
      issues: [{ path: 'capabilities[2].inputSchema', message: expect.stringMatching(message) }],
    });
  });

  it('keeps schemas of one $id apart', async () => {
    await check({ $id: 'https://example.com/one', type: 'string' });
    await expect(check({ $id: 'https://example.com/one', type: 'number' })).resolves.toBeUndefined();
  });

  it('refuses schemas of more than 256 KB together', async () => {
    const placed = Array.from({ length: 5 }, (_, at) => ({
      path: `capabilities[${at}].inputSchema`,
      schema: { description: 'x'.repeat(60_000) },
    }));
    await expect(assertInputSchemas(placed)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_SCHEMA',
      issues: [{ path: 'capabilities[4].inputSchema', message: expect.stringContaining('262144 bytes') }],
    });
  });

  it('lets others run between two schemas, and compiles none of them again', async () => {
    const placed = Array.from({ length: 5 }, (_, at) => ({ path: 'p', schema: { title: 'given way', minLength: at } }));
    const turnsOf = async (work: Promise<void>): Promise<number> => {
      let isDone = false;
      let turns = 0;
      const count = (): void => {
        turns += 1;
        if (!isDone) setImmediate(count);
      };
      setImmediate(count);
      await work;
      isDone = true;
      return turns;
    };
    expect(await turnsOf(assertInputSchemas(placed))).toBeGreaterThanOrEqual(4);
    expect(await turnsOf(assertInputSchemas(placed))).toBe(0);
  });
});
