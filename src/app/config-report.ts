/** What `agent-reach config` shows: every key with its unit, value and source. Secrets never leave in clear. */
import { CONFIG_KEYS, type ConfigKey } from './config-keys.ts';
import type { Config } from './config-schema.ts';

export interface ConfigRow {
  readonly key: string;
  readonly envName: string;
  readonly unit: string;
  readonly defaultValue: unknown;
  readonly value: unknown;
  readonly source: string;
  readonly about: string;
}

export function describeConfig(config: Config): ConfigRow[] {
  return CONFIG_KEYS.map((key) => ({
    key: key.key,
    envName: key.envName,
    unit: key.unit,
    defaultValue: key.defaultValue,
    value: shownValue(key, valueAt(config, key.path)),
    source: config.sources.get(key.key) ?? 'default',
    about: key.about,
  }));
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const name of path) {
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
}

function shownValue(key: ConfigKey, value: unknown): unknown {
  if (!key.isSecret || value === null) return value;
  if (typeof value === 'string') return maskUrl(value);
  if (!Array.isArray(value)) return '***';
  return value.map((one: unknown) => (typeof one === 'object' && one !== null ? { ...one, sha256: '***' } : '***'));
}

/** Passwords also travel as query parameters (`?password=`), so both are hidden. */
function maskUrl(text: string): string {
  return text.replace(/(:\/\/[^:@/?#]*:)[^/?#]*@/, '$1***@').replace(/\?.*$/s, '?***');
}
