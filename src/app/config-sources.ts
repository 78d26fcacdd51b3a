/**
 * Reads settings from a file, the environment and flags into one flat map, later sources over earlier ones. Names are
 * checked here, values are left to the schema. Every unknown name is collected, so that one run shows all mistakes.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as yaml from 'yaml';
import { AgentReachError, type ErrorIssue, errorText, nearestName, yamlValue } from '../core/index.ts';
import {
  CONFIG_KEYS,
  type ConfigKey,
  ENV_PREFIX,
  findKey,
  findKeyByEnv,
  isSection,
  namesIn,
  PLAIN_ENV_NAMES,
} from './config-keys.ts';

export interface SourcedValue {
  readonly value: unknown;
  readonly source: string;
}

export interface Sources {
  readonly values: Map<string, SourcedValue>;
  readonly issues: ErrorIssue[];
}

export const DEFAULT_CONFIG_FILE = './agent-reach.yaml';
const CONFIG_FILE_ENV = `${ENV_PREFIX}CONFIG`;

/** AGENT_REACH_ names that belong to the command line client, not to the service. */
const CLIENT_ENV_NAMES = [CONFIG_FILE_ENV, `${ENV_PREFIX}URL`, `${ENV_PREFIX}API_KEY`];

/** Compared without the prefix that all share, which would make any two names look alike. */
const ENV_TAILS = [...CONFIG_KEYS.map(({ envName }) => envName), ...CLIENT_ENV_NAMES].map((name) =>
  name.slice(ENV_PREFIX.length),
);

const meant = (name: string | undefined): string => (name === undefined ? '' : `; did you mean "${name}"?`);

/** Empty names nothing: compose files pass unset variables on as empty text. */
const isGiven = (value: string | undefined): value is string => value !== undefined && value !== '';

export function readFileSource(sources: Sources, explicitPath: string | undefined, cwd: string): void {
  const shownPath = explicitPath ?? DEFAULT_CONFIG_FILE;
  let content: string;
  try {
    content = readFileSync(resolve(cwd, shownPath), 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing && explicitPath === undefined) return;
    throw new AgentReachError('AR_ERR_INVALID_CONFIG', {
      detail: isMissing ? `no config file at ${shownPath}` : `cannot read ${shownPath}: ${errorText(error)}`,
      cause: error,
    });
  }
  const document = parseFile(content, shownPath);
  if (document === null || document === undefined) return;
  flatten(sources, document, '', `file ${shownPath}`);
}

function parseFile(content: string, shownPath: string): unknown {
  const isJson = shownPath.endsWith('.json') && content.trim() !== '';
  try {
    return isJson ? (JSON.parse(content) as unknown) : yamlValue(yaml, content, shownPath);
  } catch (error) {
    const detail = isJson ? `${shownPath} is not well-formed JSON: ${errorText(error)}` : errorText(error);
    throw new AgentReachError('AR_ERR_INVALID_CONFIG', { detail, cause: error });
  }
}

function flatten(sources: Sources, value: unknown, section: string, source: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const shown = section === '' ? 'the file' : `"${section}"`;
    sources.issues.push({ path: section, message: `${shown} must be a section of keys (from ${source})` });
    return;
  }
  for (const [name, below] of Object.entries(value)) {
    const key = section === '' ? name : `${section}.${name}`;
    if (findKey(key) !== undefined) sources.values.set(key, { value: below, source });
    else if (isSection(key)) {
      // A section that is only a heading, all of its keys commented out, reads as null.
      if (below !== null) flatten(sources, below, key, source);
    } else
      sources.issues.push({ path: key, message: `is not a setting (from ${source})${meant(nearKey(key, section))}` });
  }
}

/** First the neighbours in the section, then the same name elsewhere: `port` at the top means `http.port`. */
function nearKey(key: string, section: string): string | undefined {
  const prefix = section === '' ? '' : `${section}.`;
  const name = key.slice(prefix.length);
  const neighbour = nearestName(name, namesIn(section));
  if (neighbour !== undefined) return prefix + neighbour;
  const elsewhere = CONFIG_KEYS.find((one) => one.path.at(-1)?.toLowerCase() === name.toLowerCase());
  if (elsewhere !== undefined) return elsewhere.key;
  return nearestName(
    key,
    CONFIG_KEYS.map((one) => one.key),
  );
}

export function configFileOf(env: NodeJS.ProcessEnv, flag: string | undefined): string | undefined {
  return flag ?? (isGiven(env[CONFIG_FILE_ENV]) ? env[CONFIG_FILE_ENV] : undefined);
}

export function readEnvironmentSource(sources: Sources, env: NodeJS.ProcessEnv): void {
  for (const [name, key] of Object.entries(PLAIN_ENV_NAMES)) readVariable(sources, name, env[name], findKey(key));
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(ENV_PREFIX) || CLIENT_ENV_NAMES.includes(name)) continue;
    const key = findKeyByEnv(name);
    if (key !== undefined) {
      readVariable(sources, name, text, key);
      continue;
    }
    const near = nearestName(name.slice(ENV_PREFIX.length), ENV_TAILS);
    const hint = meant(near === undefined ? undefined : ENV_PREFIX + near);
    sources.issues.push({ path: name, message: `is not a setting (from the environment)${hint}` });
  }
}

function readVariable(sources: Sources, name: string, text: string | undefined, key: ConfigKey | undefined): void {
  if (key !== undefined && isGiven(text)) readInto(sources, key, { text, source: `environment ${name}` });
}

/** Flags by key: `{ 'http.port': { flag: '--port', text: '8080' } }`. */
export type ConfigFlags = Readonly<Record<string, { readonly flag: string; readonly text: string | undefined }>>;

export function readFlagSource(sources: Sources, flags: ConfigFlags): void {
  for (const [name, { flag, text }] of Object.entries(flags)) {
    const key = findKey(name);
    if (key === undefined) throw new TypeError(`flag ${flag} names no config key: ${name}`);
    if (text !== undefined) readInto(sources, key, { text, source: `flag ${flag}` });
  }
}

function readInto(
  sources: Sources,
  key: ConfigKey,
  { text, source }: { readonly text: string; readonly source: string },
): void {
  const value = readText(key, text);
  // Without the parser's reason, which quotes the text: it may hold hashes of keys.
  if (key.kind === 'json' && value === text) {
    sources.issues.push({ path: key.key, message: `is not well-formed JSON (from ${source})` });
  } else sources.values.set(key.key, { value, source });
}

/** Text that does not read as the kind stays text, for the schema to refuse with the value as it was given. */
function readText(key: ConfigKey, text: string): unknown {
  switch (key.kind) {
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'list':
      return text.split(',').map((part) => part.trim());
    case 'json':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return text;
      }
    case 'text':
      return text;
    default:
      return key.kind satisfies never;
  }
}
