/**
 * Checks that an agent's `inputSchema` is a JSON Schema 2020-12 that can be used against hostile input: bounded in
 * size and depth, no reference out of itself, no endless or explosive reference inside, regular expressions in linear
 * time only. ajv is loaded with the first schema: most agents send none, and its import takes tens of milliseconds.
 */
import { createRequire } from 'node:module';
import { AgentReachError, errorText } from '../core/index.ts';
import { schemaProblem } from './schema-limits.ts';

export type InputSchema = boolean | Readonly<Record<string, unknown>>;

export const MAX_SCHEMA_BYTES = 65_536;
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
      const own = new Ajv2020({ ...options, validateSchema: false });
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

/** Error: AR_ERR_INVALID_SCHEMA, naming `path`. */
export function assertInputSchema(schema: InputSchema, path = 'inputSchema'): void {
  if (typeof schema === 'boolean') return;
  const problem = schemaProblem(schema, { maxBytes: MAX_SCHEMA_BYTES, dialect: DIALECT }) ?? compileProblem(schema);
  if (problem === undefined) return;
  throw new AgentReachError('AR_ERR_INVALID_SCHEMA', {
    detail: `${path}: ${problem}`,
    issues: [{ path, message: problem }],
  });
}

function compileProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  compilers ??= loadCompilers();
  return compilers.problemOf(schema);
}
