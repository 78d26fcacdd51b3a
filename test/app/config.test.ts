import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compileConfig, loadConfig } from '../../src/app/config.ts';
import { CONFIG_KEYS } from '../../src/app/config-keys.ts';
import { describeConfig } from '../../src/app/config-report.ts';
import { AgentReachError } from '../../src/core/index.ts';
import { HnswIndex } from '../../src/vector-index/index.ts';

const root = mkdtempSync(join(tmpdir(), 'reach-config-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
function folderWith(files: Record<string, string> = {}): string {
  folders += 1;
  const folder = join(root, String(folders));
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function refusalOf(run: () => unknown): AgentReachError {
  try {
    run();
  } catch (error) {
    if (error instanceof AgentReachError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const HASH = 'a'.repeat(64);
const KEYS = JSON.stringify([{ id: 'ops', sha256: HASH, scopes: ['*'] }]);

describe('sources', () => {
  it('starts with no source at all', () => {
    const cwd = folderWith();
    const config = loadConfig({ env: {}, cwd });
    expect(config.http).toEqual({ host: '127.0.0.1', port: 7420, bodyLimitBytes: 1_048_576, stopTimeoutMs: 8_000 });
    expect(config.data.dir).toBe(join(cwd, 'data'));
    expect(config.routing.weights).toEqual({ relevance: 0.5, load: 0.3, latency: 0.2 });
    expect(config.sources.size).toBe(0);
  });

  it('puts flags over environment over file over default', () => {
    const cwd = folderWith({ 'agent-reach.yaml': 'http: { port: 1001 }\nlog: { level: debug }\nindex: { m: 24 }\n' });
    const fromFile = loadConfig({ env: {}, cwd });
    expect(fromFile.http.port).toBe(1001);
    expect(fromFile.sources.get('http.port')).toBe('file ./agent-reach.yaml');
    const fromPlain = loadConfig({ env: { PORT: '1002' }, cwd });
    expect([fromPlain.http.port, fromPlain.sources.get('http.port')]).toEqual([1002, 'environment PORT']);
    const fromLong = loadConfig({ env: { PORT: '1002', AGENT_REACH_HTTP_PORT: '1003' }, cwd });
    expect(fromLong.http.port).toBe(1003);
    const flags = { 'http.port': { flag: '--port', text: '0' }, 'log.level': { flag: '--log-level', text: undefined } };
    const fromFlag = loadConfig({ env: { PORT: '1002' }, cwd, flags });
    expect([fromFlag.http.port, fromFlag.sources.get('http.port')]).toEqual([0, 'flag --port']);
    expect([fromFlag.log.level, fromFlag.index.m]).toEqual(['debug', 24]);
  });

  it('honours each plain variable', () => {
    const env = { HOST: '::1', PORT: '9', DATA_DIR: 'elsewhere', REDIS_URL: 'redis://r:6379', LOG_LEVEL: 'warn' };
    const cwd = folderWith();
    const config = loadConfig({ env, cwd });
    expect([config.http.host, config.http.port, config.data.dir, config.redis.url, config.log.level]).toEqual([
      '::1',
      9,
      join(cwd, 'elsewhere'),
      'redis://r:6379',
      'warn',
    ]);
  });

  it('takes every key from its own environment variable', () => {
    // Text, and what it is read as where that is not the text itself.
    const OTHER: Readonly<Record<string, readonly [text: string, value?: unknown]>> = {
      'http.host': ['::1'],
      'data.dir': ['other', join(root, 'other')],
      'redis.url': ['redis://r:6379'],
      'redis.prefix': ['other'],
      'auth.apiKeys': [KEYS, [{ id: 'ops', sha256: '***', scopes: ['*'] }]],
      'log.level': ['warn'],
      'model.id': ['hash-256'],
      'model.path': ['other', join(root, 'other')],
      'registry.probeNetworks': ['10.1.0.0/16,fd00::/8', ['10.1.0.0/16', 'fd00::/8']],
      'dictionary.mode': ['curated'],
      'index.kind': ['flat'],
      'routing.strategy': ['capacity_first'],
      'routing.strategies': ['affinity', ['affinity']],
      'routing.strategiesFile': ['s.yaml', join(root, 's.yaml')],
      'routing.canary.tag': ['track'],
      'routing.canary.value': ['next'],
      'routing.weights.relevance': ['0.4', 0.4],
      'routing.weights.load': ['0.2', 0.2],
      'routing.weights.latency': ['0.3', 0.3],
    };
    /** Keys that one of them asks for. */
    const WITH: Readonly<Record<string, Record<string, string>>> = {
      'routing.canary.value': { AGENT_REACH_ROUTING_CANARY_TAG: 'track' },
      'routing.canary.share': { AGENT_REACH_ROUTING_CANARY_TAG: 'track' },
      'routing.weights.relevance': { AGENT_REACH_ROUTING_WEIGHTS_LOAD: '0.4' },
      'routing.weights.load': { AGENT_REACH_ROUTING_WEIGHTS_LATENCY: '0.3' },
      'routing.weights.latency': { AGENT_REACH_ROUTING_WEIGHTS_LOAD: '0.2' },
    };
    const otherOf = (key: string, value: unknown): readonly [string, unknown] => {
      const given = OTHER[key];
      if (given !== undefined) return [given[0], given[1] ?? given[0]];
      if (typeof value === 'boolean') return [String(!value), !value];
      if (typeof value !== 'number') throw new Error(`what else may ${key} be?`);
      const other = value === 0 ? 0.5 : Number.isInteger(value) ? value - 1 : value / 2;
      return [String(other), other];
    };
    for (const { key, envName, defaultValue } of CONFIG_KEYS) {
      const [text, value] = otherOf(key, defaultValue);
      const config = loadConfig({ env: { ...WITH[key], [envName]: text }, cwd: root });
      const row = describeConfig(config).find((one) => one.key === key);
      expect([key, row?.value, row?.source]).toEqual([key, value, `environment ${envName}`]);
      expect(value).not.toEqual(defaultValue);
    }
  });

  it('treats an empty variable as not given', () => {
    const config = loadConfig({ env: { REDIS_URL: '', PORT: '', AGENT_REACH_CONFIG: '' }, cwd: folderWith() });
    expect([config.redis.url, config.http.port]).toEqual([null, 7420]);
  });

  it('reads a JSON file, a list and a section that is only a heading', () => {
    const cwd = folderWith({
      'c.json': JSON.stringify({ routing: { strategies: ['affinity'] }, auth: { apiKeys: JSON.parse(KEYS) } }),
      'agent-reach.yaml': 'routing:\n  # topK: 3\n',
    });
    const config = loadConfig({ env: { AGENT_REACH_CONFIG: 'c.json' }, cwd });
    expect(config.routing.strategies).toEqual(['affinity']);
    expect(config.auth.apiKeys).toHaveLength(1);
    expect(loadConfig({ env: {}, cwd }).routing.topK).toBe(5);
  });

  it('lets a canary tag bring its strategy along, before affinity, which leaves nothing to share', () => {
    const canary = { tag: 'track', value: 'next', share: 0.1 };
    const config = compileConfig({ routing: { canary } });
    expect(config.canary).toEqual(canary);
    expect(config.routing.strategies).toEqual(['failure_domain', 'canary', 'affinity']);
    const alone = compileConfig({ routing: { canary, strategies: ['failure_domain'] } });
    expect(alone.routing.strategies).toEqual(['failure_domain', 'canary']);
    const named = compileConfig({ routing: { canary, strategies: ['canary', 'affinity'] } });
    expect(named.routing.strategies).toEqual(['canary', 'affinity']);
    expect(compileConfig({ routing: { canary: { tag: 'track' } } }).canary).toMatchObject({ tag: 'track', share: 0 });
    expect(compileConfig().canary).toBeNull();
    expect(compileConfig().routing.strategies).toEqual(['failure_domain', 'affinity']);
  });

  it.each(['m', 'efConstruction', 'efSearch'] as const)('takes no index.%s that a build would refuse', (key) => {
    const taken = [0, 1, 2, 7, 8, 99, 100, 101, 127, 128, 129, 4_095, 4_096, 4_097, 10_000, 10_001].filter((value) => {
      try {
        return compileConfig({ index: { [key]: value } }).index[key] === value;
      } catch {
        return false;
      }
    });
    expect(taken.length).toBeGreaterThan(3);
    for (const value of taken) {
      expect(() => HnswIndex.empty(4, { [key]: value }), `${key} ${value}`).not.toThrow();
    }
  });
});

describe('refusals', () => {
  it.each([
    ['a port with a suffix', { PORT: '80x' }, ['http.port: must be a number, got "80x" (from environment PORT)']],
    ['a port in hex', { PORT: '0x50' }, ['http.port', '"0x50"']],
    ['a port with spaces', { PORT: ' 80' }, ['http.port', '" 80"']],
    ['a port as an exponent', { PORT: '1e3' }, ['http.port']],
    ['a broken port', { PORT: '80.5' }, ['http.port', '80.5']],
    ['a port over the range', { PORT: '65536' }, ['http.port: must be at most 65535']],
    ['a negative port', { PORT: '-1' }, ['http.port']],
    ['a host with a path', { HOST: 'a/b' }, ['http.host']],
    ['another kind of URL', { REDIS_URL: 'http://x' }, ['redis.url', 'redis://']],
    ['an unknown level', { LOG_LEVEL: 'loud' }, ['log.level', '"loud"', '"debug"']],
    ['a share over 1', { AGENT_REACH_ROUTING_MIN_RELEVANCE: '1.5' }, ['routing.minRelevance', '1.5']],
    ['NaN', { AGENT_REACH_ROUTING_MIN_RELEVANCE: 'NaN' }, ['routing.minRelevance']],
    ['a mistyped variable', { AGENT_REACH_HTTP_PROT: '1' }, ['did you mean "AGENT_REACH_HTTP_PORT"']],
    ['keys that are not JSON', { AGENT_REACH_AUTH_API_KEYS: '[{' }, ['auth.apiKeys: is not well-formed JSON']],
    ['one strategy twice', { AGENT_REACH_ROUTING_STRATEGIES: 'affinity,affinity' }, ['routing.strategies', 'twice']],
    ['a public host without keys', { HOST: '0.0.0.0' }, ['http.host', '127.0.0.1', 'sha256sum']],
    ['no weight at all', weights('0'), ['routing.weights']],
    ['weights that do not sum to 1', { AGENT_REACH_ROUTING_WEIGHTS_LOAD: '0.4' }, ['routing.weights', 'sum to 1.1']],
    ['a canary without a tag', { AGENT_REACH_ROUTING_CANARY_SHARE: '0.1' }, ['routing.canary.tag']],
    ['a canary of nobody', { AGENT_REACH_ROUTING_STRATEGIES: 'canary' }, ['routing.strategies', 'routing.canary.tag']],
    ['a value of no tag', { AGENT_REACH_ROUTING_CANARY_VALUE: 'next' }, ['routing.canary.value', 'routing.canary.tag']],
    ['a wait under the debounce', { AGENT_REACH_INDEX_REBUILD_MAX_WAIT_MS: '1' }, ['index.rebuildMaxWaitMs']],
  ])('refuses %s', (_, env, parts) => {
    const error = refusalOf(() => loadConfig({ env, cwd: root }));
    expect(error.code).toBe('AR_ERR_INVALID_CONFIG');
    for (const part of parts) expect(error.message).toContain(part);
  });

  it.each([
    ['a mistyped key', 'http: { prot: 1 }', 'did you mean "http.port"'],
    ['a mistyped section', 'htpp: { port: 1 }', 'did you mean "http"'],
    ['a key outside its section', 'port: 1', 'did you mean "http.port"'],
    ['text for a number', 'http: { port: "80" }', 'must be a number'],
    ['a value for a section', 'http: 80', 'must be a section'],
    ['a list for the file', '- 1', 'must be a section'],
    ['a key given twice', 'http: { port: 1 }\nhttp: { port: 2 }', 'not well-formed YAML'],
    ['broken YAML', 'http: [', 'not well-formed YAML'],
    ['the name of a prototype', '__proto__: { polluted: true }', 'is not a setting'],
  ])('refuses %s in the file', (_, content, part) => {
    const cwd = folderWith({ 'agent-reach.yaml': content });
    const error = refusalOf(() => loadConfig({ env: {}, cwd }));
    expect(error.code).toBe('AR_ERR_INVALID_CONFIG');
    expect(error.message).toContain(part);
    expect(error.message).toContain('agent-reach.yaml');
  });

  it('calls a broken JSON file JSON', () => {
    const cwd = folderWith({ 'c.json': '{"http": ' });
    const error = refusalOf(() => loadConfig({ file: 'c.json', env: {}, cwd }));
    expect([error.code, error.message]).toEqual([
      'AR_ERR_INVALID_CONFIG',
      expect.stringMatching(/^c\.json is not well-formed JSON: /),
    ]);
  });

  it('takes a log level in any case', () => {
    expect(loadConfig({ env: { LOG_LEVEL: 'INFO' }, cwd: root }).log.level).toBe('info');
  });

  it('refuses a named file that is not there, or is a folder', () => {
    expect(refusalOf(() => loadConfig({ file: 'none.yaml', env: {}, cwd: root })).message).toContain('none.yaml');
    expect(refusalOf(() => loadConfig({ file: '.', env: {}, cwd: root })).message).toContain('cannot read');
  });

  it('suggests nothing for a variable that is like none', () => {
    const error = refusalOf(() => loadConfig({ env: { AGENT_REACH_ZZZZZZ: '1' }, cwd: root }));
    expect(error.message).toContain('AGENT_REACH_ZZZZZZ: is not a setting');
    expect(error.message).not.toContain('did you mean');
  });

  it('names every mistake at once', () => {
    const cwd = folderWith({ 'agent-reach.yaml': 'http: { prot: 1 }' });
    const error = refusalOf(() => loadConfig({ env: { PORT: 'x', LOG_LEVEL: 'y' }, cwd }));
    expect(error.issues.map((issue) => issue.path)).toEqual(['http.prot', 'http.port', 'log.level']);
  });

  it('never prints a secret it refuses', () => {
    const env = { AGENT_REACH_AUTH_API_KEYS: '[{"id":"ops","sha256":"hunter2","scopes":["*"]}]' };
    const error = refusalOf(() => loadConfig({ env, cwd: root }));
    expect(error.message).toContain('auth.apiKeys[0].sha256');
    expect(error.message).not.toContain('hunter2');
  });

  it('takes a public host once there are keys', () => {
    const config = loadConfig({ env: { HOST: '0.0.0.0', AGENT_REACH_AUTH_API_KEYS: KEYS }, cwd: root });
    expect(config.http.host).toBe('0.0.0.0');
  });
});

function weights(value: string): Record<string, string> {
  return Object.fromEntries(
    ['RELEVANCE', 'LOAD', 'LATENCY'].map((name) => [`AGENT_REACH_ROUTING_WEIGHTS_${name}`, value]),
  );
}

describe('describeConfig', () => {
  it('shows each key with unit, default, value and source', () => {
    const rows = describeConfig(loadConfig({ env: { PORT: '80' }, cwd: root }));
    expect(rows).toHaveLength(CONFIG_KEYS.length);
    const port = rows.find((row) => row.key === 'http.port');
    expect(port).toMatchObject({ unit: 'port', defaultValue: 7420, value: 80, source: 'environment PORT' });
    for (const row of rows) expect(row.about, row.key).toMatch(/\S.*\.$/);
  });

  it('masks passwords and key hashes', () => {
    const env = { REDIS_URL: 'redis://u:hunter1@hunter2@r:6379/0?password=hunter3', AGENT_REACH_AUTH_API_KEYS: KEYS };
    const shown = JSON.stringify(describeConfig(loadConfig({ env, cwd: root })));
    expect(shown).toContain('redis://u:***@r:6379/0');
    expect(shown).not.toMatch(/hunter|aaaa/);
    const cluster = { REDIS_URL: 'redis+cluster://u:hunter2@a:1,b:2' };
    expect(JSON.stringify(describeConfig(loadConfig({ env: cluster, cwd: root })))).toContain(
      '"redis+cluster://u:***@a:1,b:2"',
    );
    const broken = { REDIS_URL: 'redis+cluster://u:hunter2@a:1,b:99999' };
    expect(refusalOf(() => loadConfig({ env: broken, cwd: root })).message).toMatch(/^(?!.*hunter).*redis\.url/s);
  });
});
