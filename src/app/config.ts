/**
 * The configuration of a service: defaults < file < environment < flags, checked by one schema and by the rules
 * across keys. What `loadConfig` returns can be started; everything else is refused with AR_ERR_INVALID_CONFIG,
 * naming key, rule, value and source of each mistake.
 */
import { resolve } from 'node:path';
import type { z } from 'zod';
import { schemaRule } from '../contract/index.ts';
import { AgentReachError, type ErrorIssue, isLoopbackHost } from '../core/index.ts';
import { CONFIG_KEYS, findKey } from './config-keys.ts';
import {
  type Config,
  type ConfigInput,
  type ConfigValues,
  configSchema,
  DEFAULT_CANARY_VALUE,
} from './config-schema.ts';
import {
  type ConfigFlags,
  configFileOf,
  readEnvironmentSource,
  readFileSource,
  readFlagSource,
  type SourcedValue,
  type Sources,
} from './config-sources.ts';

export type { Config, ConfigInput, ConfigValues } from './config-schema.ts';
export type { ConfigFlags } from './config-sources.ts';

export interface ConfigRequest {
  /** `--config PATH`; a file that is named must be there. */
  readonly file?: string | undefined;
  readonly flags?: ConfigFlags;
  readonly env?: NodeJS.ProcessEnv;
  /** What relative paths start from. */
  readonly cwd?: string;
}

export function loadConfig(request: ConfigRequest = {}): Config {
  const env = request.env ?? process.env;
  const cwd = request.cwd ?? process.cwd();
  const sources: Sources = { values: new Map(), issues: [] };
  readFileSource(sources, configFileOf(env, request.file), cwd);
  readEnvironmentSource(sources, env);
  readFlagSource(sources, request.flags ?? {});
  return compile(nest(sources.values), sources, cwd);
}

/** For code that builds a service itself, as tests do: only the defaults lie under the input. */
export function compileConfig(input: ConfigInput = {}, cwd = process.cwd()): Config {
  return compile(input, { values: new Map(), issues: [] }, cwd);
}

function compile(input: unknown, sources: Sources, cwd: string): Config {
  const parsed = configSchema.safeParse(input);
  const issues = [...sources.issues, ...(parsed.error?.issues ?? []).map((issue) => issueOf(issue, sources.values))];
  if (parsed.data === undefined || issues.length > 0) throw refusal(issues);
  const values = parsed.data;
  const crossIssues = crossKeyIssues(values);
  if (crossIssues.length > 0) throw refusal(crossIssues);
  const { strategiesFile, canary } = values.routing;
  const { tag, value, share } = canary;
  return {
    ...values,
    data: { dir: resolve(cwd, values.data.dir) },
    model: { id: values.model.id, path: values.model.path === null ? null : resolve(cwd, values.model.path) },
    routing: {
      ...values.routing,
      strategies: tag === null ? values.routing.strategies : withCanary(values.routing.strategies),
      strategiesFile: strategiesFile === null ? null : resolve(cwd, strategiesFile),
    },
    canary: tag === null ? null : { tag, value, share },
    sources: new Map([...sources.values].map(([key, { source }]) => [key, source])),
  };
}

type StrategyNames = ConfigValues['routing']['strategies'];

/** Before affinity, which leaves a single agent: after it a share would count for requests without a key only. */
function withCanary(names: StrategyNames): StrategyNames {
  if (names.includes('canary')) return names;
  const at = names.indexOf('affinity');
  return at < 0 ? [...names, 'canary'] : names.toSpliced(at, 0, 'canary');
}

type Nested = { [name: string]: unknown };

function nest(values: ReadonlyMap<string, SourcedValue>): Nested {
  const root: Nested = {};
  for (const [key, { value }] of values) {
    const path = findKey(key)?.path ?? [];
    let section = root;
    for (const name of path.slice(0, -1)) {
      section[name] ??= {};
      section = section[name] as Nested;
    }
    section[path.at(-1) ?? key] = value;
  }
  return root;
}

function issueOf(issue: z.core.$ZodIssue, values: ReadonlyMap<string, SourcedValue>): ErrorIssue {
  const path = issue.path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );
  const key = CONFIG_KEYS.find((one) => one.path.every((name, depth) => issue.path[depth] === name));
  const given = key === undefined ? undefined : values.get(key.key);
  const rule = schemaRule(issue);
  if (key === undefined || given === undefined) return { path, message: rule };
  const shown = key.isSecret ? '' : `, got ${shorten(JSON.stringify(given.value) ?? String(given.value))}`;
  return { path, message: `${rule}${shown} (from ${given.source})` };
}

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 77)}...` : text);

function refusal(issues: readonly ErrorIssue[]): AgentReachError {
  const detail = issues
    .map((issue) => (issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`))
    .join('\n');
  return new AgentReachError('AR_ERR_INVALID_CONFIG', { detail, issues });
}

function crossKeyIssues(values: ConfigValues): ErrorIssue[] {
  const issues: ErrorIssue[] = [];
  const refuseIf = (isBroken: boolean, path: string, message: string): void => {
    if (isBroken) issues.push({ path, message });
  };
  const { apiKeys } = values.auth;
  refuseIf(
    !isLoopbackHost(values.http.host) && apiKeys.length === 0,
    'http.host',
    `${values.http.host} can be reached from other machines and auth.apiKeys is empty: listen on 127.0.0.1, or ` +
      'give auth.apiKeys (in the file, or AGENT_REACH_AUTH_API_KEYS=\'[{"id":"ops","sha256":"...","scopes":["*"]}]\'; ' +
      'the hash comes from: printf %s "$KEY" | sha256sum)',
  );
  const isRepeated = (texts: readonly string[]): boolean => new Set(texts).size < texts.length;
  refuseIf(isRepeated(apiKeys.map((key) => key.id)), 'auth.apiKeys', 'two keys have one id');
  refuseIf(isRepeated(apiKeys.map((key) => key.sha256)), 'auth.apiKeys', 'two entries hold one key');
  const { weights, canary, strategies } = values.routing;
  const sum = weights.relevance + weights.load + weights.latency;
  refuseIf(Math.abs(sum - 1) > 1e-6, 'routing.weights', `must sum to 1, but sum to ${Number(sum.toFixed(6))}`);
  refuseIf(
    canary.share > 0 && canary.tag === null,
    'routing.canary.tag',
    'must be given when routing.canary.share is above 0',
  );
  refuseIf(
    strategies.includes('canary') && canary.tag === null,
    'routing.strategies',
    'canary needs routing.canary.tag and a share: without them it would keep everybody',
  );
  refuseIf(
    canary.value !== DEFAULT_CANARY_VALUE && canary.tag === null,
    'routing.canary.value',
    'is the value of routing.canary.tag, which must be given too',
  );
  refuseIf(
    values.index.rebuildMaxWaitMs < values.index.rebuildDebounceMs,
    'index.rebuildMaxWaitMs',
    'must be at least index.rebuildDebounceMs',
  );
  return issues;
}
