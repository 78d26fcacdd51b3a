/**
 * Values from a JSON Schema of the OpenAPI document, for fast-check: as it asks, and spoilt in one or more places.
 * Knows the keywords that the document uses; what it does not know it leaves open, which only makes a value worse.
 */
import fc from 'fast-check';

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly example?: unknown;
}

export type Components = Readonly<Record<string, JsonSchema>>;

/** Longer lists and texts find nothing that short ones do not, but for the limits, which the odd values pass. */
const MAX_ITEMS = 4;
const MAX_TEXT = 24;
/** Nobody listens there; a name could be looked up, an address of somebody else called. */
const NOWHERE = 'http://127.0.0.1:9/x';

export const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 31) - 1,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e\u200b',
  '😀'.repeat(40),
  'ＤＥＬＥＴＥ',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%00',
  '(a+)+$',
  '((((',
  'NaN',
  '1e999',
  'lease_1',
  'a'.repeat(20_000),
  [],
  [[[]]],
  {},
  { toString: 1, length: -1 },
  Array.from({ length: 2_000 }, (_, i) => i),
  nested(70),
];

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD_VALUES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

export function valueFrom(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return valueFrom(resolved(schema.$ref, components), components);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms !== undefined) return fc.oneof(...forms.map((one) => valueFrom(one, components)));
  const { type } = schema;
  if (typeof type === 'object') return fc.oneof(...type.map((one) => ofType(one, schema, components)));
  return type === undefined ? fc.jsonValue({ maxDepth: 2 }) : ofType(type, schema, components);
}

function resolved(ref: string, components: Components): JsonSchema {
  const found = components[ref.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`the document has no ${ref}`);
  return found;
}

function ofType(type: string, schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return objectOf(schema, components);
    case 'array': {
      const minLength = schema.minItems ?? 0;
      return fc.array(valueFrom(schema.items ?? {}, components), {
        minLength,
        maxLength: Math.max(minLength, MAX_ITEMS),
      });
    }
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 100_000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.constant(null);
  }
}

function objectOf(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([key, one]) => [key, valueFrom(one, components)] as const,
  );
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] });
  const more = schema.additionalProperties;
  if (typeof more !== 'object') return known;
  const free = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), valueFrom(more, components), { maxKeys: 3 });
  return fc.tuple(free, known).map(([one, two]) => ({ ...one, ...two }));
}

function textOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.format === 'uri') return fc.constant(NOWHERE);
  const words = ['weather forecast', '天气', '开发票', 'pkg.query.city', 'weather.query.city', 'v000001', NOWHERE];
  const minLength = schema.minLength ?? 0;
  const maxLength = Math.max(minLength, Math.min(schema.maxLength ?? MAX_TEXT, MAX_TEXT));
  const free = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'grapheme', minLength, maxLength }));
  const examples = schema.example === undefined ? [] : [fc.constant(schema.example)];
  if (schema.pattern === undefined) return fc.oneof(free, ...examples);
  return fc.oneof(fc.stringMatching(new RegExp(schema.pattern), { maxLength: Math.max(maxLength, 40) }), ...examples);
}

interface Spoiling {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'add' | 'wrap' | 'repeat';
  readonly odd: unknown;
}

/** Nearly right: one to three places of it replaced, left out, wrapped, repeated, or with a field more. */
export function spoilt(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const how = fc.constantFrom('replace', 'replace', 'remove', 'add', 'wrap', 'repeat');
  const spoiling = fc.record({ at: fc.nat(1_000), how, odd: oddValue });
  return fc
    .tuple(value, fc.array(spoiling, { minLength: 1, maxLength: 3 }))
    .map(([one, spoilings]) => spoilings.reduce((spoiled: unknown, each) => spoil(spoiled, each as Spoiling), one));
}

function spoil(value: unknown, spoiling: Spoiling): unknown {
  const paths = pathsOf(value);
  return changeAt(value, paths[spoiling.at % paths.length] ?? [], spoiling);
}

function pathsOf(value: unknown, before: readonly string[] = []): (readonly string[])[] {
  const paths = [before];
  if (typeof value !== 'object' || value === null || before.length > 6) return paths;
  for (const [key, inner] of Object.entries(value).slice(0, 20)) paths.push(...pathsOf(inner, [...before, key]));
  return paths;
}

function changeAt(value: unknown, path: readonly string[], spoiling: Spoiling): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return changed(value, spoiling);
  if (Array.isArray(value)) return value.map((one, i) => (String(i) === key ? changeAt(one, rest, spoiling) : one));
  const entries = Object.entries(value as object);
  if (rest.length === 0 && spoiling.how === 'remove')
    return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(entries.map(([name, one]) => [name, name === key ? changeAt(one, rest, spoiling) : one]));
}

function changed(value: unknown, { how, odd }: Spoiling): unknown {
  switch (how) {
    case 'wrap':
      return [value];
    case 'repeat':
      return Array.from({ length: 300 }, () => value);
    case 'add':
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, surprise: odd } : odd;
    default:
      return odd;
  }
}
