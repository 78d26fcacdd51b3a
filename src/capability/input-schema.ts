/**
 * Checks that an agent's `inputSchema` is a JSON Schema 2020-12 that can be used against hostile input: bounded in
 * size and depth, no reference out of itself, no endless or explosive reference inside, regular expressions in linear
 * time only. ajv is loaded with the first schema: most agents send none, and its import takes tens of milliseconds.
 */
import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import { AgentReachError, contentHash, errorText, nextTurn } from '../core/index.ts';
import { depthProblem, schemaProblem } from './schema-limits.ts';

export type InputSchema = boolean | Readonly<Record<string, unknown>>;

export const MAX_SCHEMA_BYTES = 65_536;
/** Of one registration. */
export const MAX_SCHEMAS_BYTES = 262_144;
export const MAX_PATTERN_LENGTH = 1_000;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const require = createRequire(import.meta.url);

interface RegExpLike {
  test(text: string): boolean;
  toString(): string;
}

interface Compilers {
  /** Problem in words, or undefined: meta-schema first, then compiled in an instance of its own. */
  problemOf(schema: Readonly<Record<string, unknown>>): string | undefined;
}

let compilers: Compilers | undefined;
/** Hashes of schemas that passed: a registration again, or another agent with the same ones, compiles nothing. */
const passed = new LRUCache<string, true>({ max: 8_192 });

/** ajv keys its regex cache by `toString()`: without one of its own, all patterns would share one regex. */
function linearRegExp(compile: (pattern: string) => { test(text: string): boolean }) {
  const engine = (pattern: string): RegExpLike => {
    if (pattern.length > MAX_PATTERN_LENGTH) {
      throw new Error(`the pattern has ${pattern.length} characters; at most ${MAX_PATTERN_LENGTH} are allowed`);
    }
    const compiled = compile(pattern);
    return { test: (text) => compiled.test(text), toString: () => `linear:${pattern}` };
  };
  return Object.assign(engine, { code: 'linearRegExp' });
}

function loadCompilers(): Compilers {
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats');
  const { RE2JS } = require('re2js') as typeof import('re2js');
  const regExp = linearRegExp((pattern) => RE2JS.compile(pattern));
  const options = { strict: false, logger: false, inlineRefs: false, code: { regExp } } as const;
  const meta = new Ajv2020(options);
  return {
    problemOf(schema) {
      if (meta.validateSchema(schema) !== true) return meta.errorsText(meta.errors, { dataVar: 'schema' });
      // An instance of its own: ajv remembers nested names and compiled schemas for ever.
      // The meta-schema was asked above, and nothing here runs the code: without both it compiles three times faster.
      const own = new Ajv2020({
        ...options,
        validateSchema: false,
        meta: false,
        code: { ...options.code, optimize: false },
      });
      addFormats.default(own);
      try {
        own.compile(schema);
        return undefined;
      } catch (error) {
        return errorText(error);
      }
    },
  };
}

export interface PlacedSchema {
  /** Where it stood in the request. */
  readonly path: string;
  readonly schema: InputSchema;
}

/** Lets others run after each schema that had to be compiled. Error: AR_ERR_INVALID_SCHEMA, naming the path. */
export async function assertInputSchemas(schemas: readonly PlacedSchema[]): Promise<void> {
  let bytes = 0;
  for (const { path, schema } of schemas) {
    if (typeof schema === 'boolean') continue;
    const deep = depthProblem(schema);
    if (deep !== undefined) throw unusable(path, deep);
    const text = JSON.stringify(schema);
    const schemaBytes = Buffer.byteLength(text);
    if (schemaBytes > MAX_SCHEMA_BYTES) {
      throw unusable(path, `has ${schemaBytes} bytes; at most ${MAX_SCHEMA_BYTES} are allowed`);
    }
    bytes += schemaBytes;
    if (bytes > MAX_SCHEMAS_BYTES) {
      throw unusable(path, `brings the schemas of the registration over ${MAX_SCHEMAS_BYTES} bytes`);
    }
    const hash = contentHash(text);
    if (passed.has(hash)) continue;
    const problem = schemaProblem(schema, DIALECT) ?? compileProblem(schema);
    if (problem !== undefined) throw unusable(path, problem);
    passed.set(hash, true);
    await nextTurn();
  }
}

function unusable(path: string, problem: string): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_SCHEMA', {
    detail: `${path}: ${problem}`,
    issues: [{ path, message: problem }],
  });
}

function compileProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  compilers ??= loadCompilers();
  return compilers.problemOf(schema);
}
