/** The keys of the schema as a flat list: `http.port`, its environment name, unit, sentence, default. */
import { z } from 'zod';
import { configSchema } from './config-schema.ts';

export type KeyKind = 'number' | 'boolean' | 'text' | 'list' | 'json';

export interface ConfigKey {
  /** `http.port` */
  readonly key: string;
  readonly path: readonly string[];
  /** `AGENT_REACH_HTTP_PORT` */
  readonly envName: string;
  /** How text from the environment or a flag is read. */
  readonly kind: KeyKind;
  readonly unit: string;
  readonly about: string;
  readonly isSecret: boolean;
  readonly defaultValue: unknown;
}

export const ENV_PREFIX = 'AGENT_REACH_';

/** Short names that other tools set too; the AGENT_REACH_ form of the same key goes before them. */
export const PLAIN_ENV_NAMES: Readonly<Record<string, string>> = {
  HOST: 'http.host',
  PORT: 'http.port',
  DATA_DIR: 'data.dir',
  REDIS_URL: 'redis.url',
  LOG_LEVEL: 'log.level',
};

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodNullable) {
    inner = inner.unwrap();
  }
  return inner;
}

function kindOf(schema: unknown): KeyKind {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodNumber) return 'number';
  if (inner instanceof z.ZodBoolean) return 'boolean';
  if (inner instanceof z.ZodArray) return unwrap(inner.element) instanceof z.ZodObject ? 'json' : 'list';
  return 'text';
}

const snake = (word: string): string => word.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

function leafOf(schema: z.ZodType, path: readonly string[]): ConfigKey {
  const meta = schema.meta() ?? {};
  if (typeof meta.unit !== 'string' || typeof meta.about !== 'string' || !(schema instanceof z.ZodDefault)) {
    throw new TypeError(`config key ${path.join('.')} lacks its default, unit or sentence`);
  }
  return {
    key: path.join('.'),
    path,
    envName: ENV_PREFIX + path.map(snake).join('_'),
    kind: kindOf(schema),
    unit: meta.unit,
    about: meta.about,
    isSecret: meta.secret === true,
    defaultValue: schema.def.defaultValue,
  };
}

function walk(section: z.ZodObject, path: readonly string[]): ConfigKey[] {
  return Object.entries(section.shape).flatMap(([name, schema]) => {
    const below = [...path, name];
    const inner = unwrap(schema);
    return inner instanceof z.ZodObject ? walk(inner, below) : [leafOf(schema as z.ZodType, below)];
  });
}

export const CONFIG_KEYS: readonly ConfigKey[] = walk(configSchema, []);

const byKey = new Map(CONFIG_KEYS.map((one) => [one.key, one]));
const byEnvName = new Map(CONFIG_KEYS.map((one) => [one.envName, one]));
const sections = new Set(
  CONFIG_KEYS.flatMap((one) => one.path.slice(0, -1).map((_, depth) => one.path.slice(0, depth + 1).join('.'))),
);

export const findKey = (key: string): ConfigKey | undefined => byKey.get(key);
export const findKeyByEnv = (envName: string): ConfigKey | undefined => byEnvName.get(envName);
export const isSection = (path: string): boolean => sections.has(path);

/** Names that may stand directly in a section (`''` is the whole file). */
export function namesIn(section: string): string[] {
  const depth = section === '' ? 0 : section.split('.').length;
  const inside = CONFIG_KEYS.filter((one) => one.path.slice(0, depth).join('.') === section);
  return [...new Set(inside.flatMap((one) => one.path[depth] ?? []))];
}
