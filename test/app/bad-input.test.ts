/** Bad input of every route, against the real service: each a coded 4xx, and nothing is changed by all of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/core/index.ts';
import { call, registration } from './client.ts';
import { type InMemoryService, startInMemoryService } from './in-memory-service.ts';

const HEART = '/v1/agents/weather-1/heartbeat';
const RULE = { id: 'weather', match: 'contains', patterns: ['天气'], capability: 'weather.query.city' };
const AGENT = registration('newcomer', ['mail.send.message']);
const LONE = '\\ud800';
const TEN_KB = '长'.repeat(10_240);
const deep = (field: string): string => `{"${field}":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
const agentWith = (change: object): object => ({ ...AGENT, ...change });
const at = (endpoint: string, type = 'http'): object => agentWith({ transport: { type, endpoint } });

type Case = readonly [what: string, method: string, path: string, body?: unknown, headers?: Record<string, string>];

const BODIES: readonly (readonly [method: string, path: string, field: string])[] = [
  ['POST', '/v1/agents', 'metadata'],
  ['PUT', HEART, 'load'],
  ['PATCH', '/v1/capabilities/weather.query.city', 'description'],
  ['POST', '/v1/route', 'intent'],
  ['POST', '/v1/route/batch', 'requests'],
  ['POST', '/v1/rules', 'patterns'],
  ['POST', '/v1/rules/dry-run', 'intent'],
  ['POST', '/v1/index/rebuild', 'reason'],
];

const badBodies = (method: string, path: string, field: string): Case[] => [
  ['an unknown field', method, path, { surprise: 1 }],
  ['__proto__', method, path, '{"__proto__":{"sensitive":true}}'],
  ['constructor as a field', method, path, '{"constructor":{"name":"x"}}'],
  ['deep JSON', method, path, deep(field)],
  ['a lone surrogate', method, path, `{"${field}":"${LONE}"}`],
  ['NaN', method, path, `{"${field}":NaN}`],
  ['a body over the limit', method, path, `{"${field}":"${'x'.repeat(1_048_577)}"}`],
  ['no JSON', method, path, 'hello'],
  ['another type', method, path, '{}', { 'content-type': 'text/plain' }],
  ['an unknown query name', method, `${path}?surprise=1`, {}],
];
const everyBody: readonly Case[] = BODIES.flatMap((body) => badBodies(...body));

const agents: readonly Case[] = [
  ...[
    'weather',
    'weather.query',
    'Weather.query.city',
    'weather..city',
    'weather.query.city.now',
    'weather.query.1city',
    '天气.查询.城市',
    'weather.query.city ',
    `a.b.${'c'.repeat(64)}`,
    '',
    '__proto__.constructor.name',
  ].map((name): Case => [`the name "${name}"`, 'POST', '/v1/agents', agentWith({ capabilities: [name] })]),
  ...[
    'http://user:password@127.0.0.1:9001',
    'http://token@127.0.0.1:9001',
    'ftp://127.0.0.1:9001',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ws://127.0.0.1:9001',
    'http://',
    'not a url',
    'http://127.0.0.1:9001/\\..',
    'http://127.0.0.1:99999',
  ].map((endpoint): Case => [`the endpoint ${endpoint}`, 'POST', '/v1/agents', at(endpoint)]),
  ['an http endpoint for a socket', 'POST', '/v1/agents', at('http://127.0.0.1:9001', 'websocket')],
  ['a transport of no kind', 'POST', '/v1/agents', at('http://127.0.0.1:9001', 'carrier-pigeon')],
  ['no endpoint', 'POST', '/v1/agents', agentWith({ transport: { type: 'http' } })],
  ['one capability twice', 'POST', '/v1/agents', agentWith({ capabilities: ['a.b.c', { name: 'a.b.c' }] })],
  ['no capability', 'POST', '/v1/agents', agentWith({ capabilities: [] })],
  [
    '257 capabilities',
    'POST',
    '/v1/agents',
    agentWith({ capabilities: Array.from({ length: 257 }, (_, i) => `a.b.c${i}`) }),
  ],
  ['negative concurrency', 'POST', '/v1/agents', agentWith({ maxConcurrency: -1 })],
  ['no concurrency', 'POST', '/v1/agents', agentWith({ maxConcurrency: 0 })],
  ['half a slot', 'POST', '/v1/agents', agentWith({ maxConcurrency: 1.5 })],
  ['an interval of 0', 'POST', '/v1/agents', agentWith({ heartbeatIntervalMs: 0 })],
  ['an id with a slash', 'POST', '/v1/agents', agentWith({ agentId: '../weather-1' })],
  ['an empty id', 'POST', '/v1/agents', agentWith({ agentId: '' })],
  ['a namespace with spaces', 'POST', '/v1/agents', agentWith({ namespace: 'a b' })],
  ['an expiry gone by', 'POST', '/v1/agents', agentWith({ expiresAt: '2001-01-01T00:00:00Z' })],
  ['expiresAt and ttl', 'POST', '/v1/agents', agentWith({ expiresAt: '2999-01-01T00:00:00Z', ttl: 5 })],
  ['metadata over its bytes', 'POST', '/v1/agents', agentWith({ metadata: { note: '长'.repeat(6_000) } })],
  [
    'a schema of no kind',
    'POST',
    '/v1/agents',
    agentWith({ capabilities: [{ name: 'a.b.c', inputSchema: { type: 'x' } }] }),
  ],
  [
    '33 examples',
    'POST',
    '/v1/agents',
    agentWith({ capabilities: [{ name: 'a.b.c', examples: Array(33).fill('x') }] }),
  ],
  ['a load of 1e999', 'PUT', HEART, '{"leaseId":"LEASE","load":{"active":1e999}}'],
  ['a negative load', 'PUT', HEART, '{"leaseId":"LEASE","load":{"active":-1}}'],
  ['a load of text', 'PUT', HEART, '{"leaseId":"LEASE","load":{"active":"NaN"}}'],
  ['a load with no room', 'PUT', HEART, '{"leaseId":"LEASE","load":{"active":1,"max":0}}'],
  ['a negative latency', 'PUT', HEART, '{"leaseId":"LEASE","avgLatencyMs":-1}'],
  ['a status of no kind', 'PUT', HEART, '{"leaseId":"LEASE","status":"dead"}'],
  ['an older lease', 'PUT', HEART, { leaseId: 'lease_0000000000000000' }],
  ['a stranger', 'PUT', '/v1/agents/nobody/heartbeat', { leaseId: 'lease_0000000000000000' }],
  ['an older lease', 'DELETE', '/v1/agents/weather-1', undefined, { 'agent-lease': 'lease_0000000000000000' }],
  ['an empty lease', 'DELETE', '/v1/agents/weather-1', undefined, { 'agent-lease': '' }],
  ['a stranger', 'DELETE', '/v1/agents/nobody'],
  ['a stranger', 'GET', '/v1/agents/nobody'],
  ['broken percent-encoding', 'GET', '/v1/agents/%E0%A4%A'],
  ['an id of dots', 'GET', '/v1/agents/%2e%2e%2fetc'],
  ['a page of none', 'GET', '/v1/agents?limit=0'],
  ['a page of 1e9', 'GET', '/v1/agents?limit=1000000000'],
  ['a cursor made up', 'GET', '/v1/agents?cursor=%00'],
  ['a state of no kind', 'GET', '/v1/agents?state=dead'],
  ['one filter twice', 'GET', '/v1/agents?zone=a&zone=b'],
];

const routes: readonly Case[] = [
  ...['', '   \t\n', '😀🎉', '?!…', '\u0000', '\u200b'].map(
    (intent): Case => [`the intent ${JSON.stringify(intent)}`, 'POST', '/v1/route', { intent }],
  ),
  ['an intent of 10 kB', 'POST', '/v1/route', { intent: TEN_KB }],
  ['an intent cut in a character', 'POST', '/v1/route', `{"intent":"weather ${LONE}"}`],
  ['neither intent nor capability', 'POST', '/v1/route', {}],
  ['both', 'POST', '/v1/route', { intent: 'weather', capability: 'weather.query.city' }],
  ['a malformed capability', 'POST', '/v1/route', { capability: 'weather' }],
  ...[0, -1, 1e9, 1.5, '5', null].map(
    (topK): Case => [`topK ${topK}`, 'POST', '/v1/route', { intent: 'weather', topK }],
  ),
  ['minRelevance 2', 'POST', '/v1/route', { intent: 'weather', minRelevance: 2 }],
  ['minRelevance 1e999', 'POST', '/v1/route', '{"intent":"weather","minRelevance":1e999}'],
  ['a priority of 10', 'POST', '/v1/route', { intent: 'weather', priority: 10 }],
  ['a strategy of no kind', 'POST', '/v1/route', { intent: 'weather', strategy: 'luck' }],
  ['257 excluded agents', 'POST', '/v1/route', { intent: 'weather', exclude: Array(257).fill('a') }],
  ['a batch of none', 'POST', '/v1/route/batch', { requests: [] }],
  ['a batch of 257', 'POST', '/v1/route/batch', { requests: Array(257).fill({ intent: 'weather' }) }],
  ['one blank of two', 'POST', '/v1/route/batch', { requests: [{ intent: 'weather' }, { intent: ' ' }] }],
  ['a dry run of 10 kB', 'POST', '/v1/rules/dry-run', { intent: TEN_KB }],
];

const edits: readonly Case[] = [
  ['an unknown capability', 'PATCH', '/v1/capabilities/nobody.does.this', { status: 'active' }],
  ['a malformed capability', 'PATCH', '/v1/capabilities/weather', { status: 'active' }],
  ['a status of no kind', 'PATCH', '/v1/capabilities/weather.query.city', { status: 'gone' }],
  ['a deprecation without a successor', 'PATCH', '/v1/capabilities/weather.query.city', { status: 'deprecated' }],
  [
    'a deprecation in favour of itself',
    'PATCH',
    '/v1/capabilities/weather.query.city',
    { status: 'deprecated', replacedBy: 'weather.query.city' },
  ],
  ['a namespace with spaces', 'GET', '/v1/capabilities/weather.query.city?namespace=a%20b'],
  ['an unknown capability', 'GET', '/v1/capabilities/nobody.does.this'],
  ['a page of none', 'GET', '/v1/capabilities?limit=0'],
  ['a cursor made up', 'GET', '/v1/capabilities?cursor=x'],
  ['a rule without a pattern', 'POST', '/v1/rules', { ...RULE, patterns: [] }],
  ['a rule of blanks', 'POST', '/v1/rules', { ...RULE, patterns: ['  '] }],
  ['a regex that does not compile', 'POST', '/v1/rules', { ...RULE, match: 'regex', patterns: ['(['] }],
  ['a regex that looks back', 'POST', '/v1/rules', { ...RULE, match: 'regex', patterns: ['(a)\\1'] }],
  ['a rule for no name', 'POST', '/v1/rules', { ...RULE, capability: 'weather' }],
  ['a rule for nothing', 'POST', '/v1/rules', { id: 'weather', match: 'contains', patterns: ['天气'] }],
  ['a version that is not', 'POST', '/v1/rules', RULE, { 'if-match': '"999"' }],
  ['a version of no form', 'POST', '/v1/rules', RULE, { 'if-match': 'newest' }],
  ['a rule that is not', 'DELETE', '/v1/rules/nobody'],
  ['a version that is not', 'DELETE', '/v1/rules/weather', undefined, { 'if-match': '"999"' }],
  ['a rule that is not', 'GET', '/v1/rules/nobody'],
  ['a page of none', 'GET', '/v1/rules/history?limit=0'],
  ['a reason of two kB', 'POST', '/v1/index/rebuild', { reason: 'x'.repeat(2_000) }],
  ['an unknown query name', 'GET', '/v1/index/versions?surprise=1'],
  ['an unknown query name', 'GET', '/v1/rules?surprise=1'],
  ['an unknown query name', 'GET', '/readyz?surprise=1'],
  ['an unknown query name', 'GET', '/healthz?surprise=1'],
  ['an unknown query name', 'GET', '/metrics?surprise=1'],
  ['an unknown query name', 'GET', '/openapi.json?surprise=1'],
  ['an unknown query name', 'GET', '/?surprise=1'],
  ['a file outside the folder', 'GET', '/docs/..%2f..%2fpackage.json'],
  ['the name of a prototype', 'GET', '/docs/__proto__'],
  ['an unknown address', 'GET', '/v1/nothing'],
  ['a method that it does not take', 'PUT', '/v1/route', {}],
  ['a method that it does not take', 'DELETE', '/v1/index/versions'],
];

let running: InMemoryService;
let leaseId: string;

beforeAll(async () => {
  running = await startInMemoryService();
  const { url } = running;
  const weather = { name: 'weather.query.city', description: 'Weather forecast for a city' };
  ({ leaseId } = (await call(url, 'POST', '/v1/agents', registration('weather-1', [weather]))).body);
  expect((await call(url, 'POST', '/v1/rules', RULE)).status).toBe(201);
  expect((await call(url, 'POST', '/v1/index/rebuild', {})).status).toBe(200);
  const beat = { leaseId, load: { active: 1, queued: 0, max: 4 }, avgLatencyMs: 100 };
  expect((await call(url, 'PUT', HEART, beat)).status).toBe(200);
});
afterAll(() => running.stop());

/** Everything that a request could have changed. */
async function state(): Promise<unknown> {
  const paths = ['/v1/agents', '/v1/capabilities', '/v1/rules', '/v1/rules/history', '/v1/index/versions'];
  const bodies = await Promise.all(paths.map(async (path) => (await call(running.url, 'GET', path)).body));
  return { bodies, epoch: running.service.parts.registry.view.epoch };
}

async function refusesAll(cases: readonly Case[]): Promise<void> {
  const before = await state();
  const wrong: unknown[] = [];
  for (const [what, method, path, body, headers] of cases) {
    const sent = typeof body === 'string' ? body.replace('LEASE', leaseId) : body;
    const answer = await call(running.url, method, path, sent, headers);
    const definition = Object.hasOwn(ERRORS, answer.body.code ?? '')
      ? ERRORS[answer.body.code as keyof typeof ERRORS]
      : undefined;
    const isCoded = definition?.status === answer.status && definition.fault === 'caller';
    if (!isCoded) wrong.push({ what, method, path, status: answer.status, body: answer.body });
  }
  expect(wrong).toEqual([]);
  expect(await state()).toEqual(before);
  expect(({} as { sensitive?: boolean }).sensitive).toBeUndefined();
}

describe('the real service', () => {
  it.each<readonly [string, readonly Case[]]>([
    ['of every body', everyBody],
    ['about agents', agents],
    ['of routes', routes],
    ['of edits and reads', edits],
  ])('refuses bad input %s with a code, and is as it was', async (_, cases) => {
    await refusesAll(cases);
  });

  it('refuses bad bodies of the routes that are not named above, and is as it was', async () => {
    const { paths } = (await call(running.url, 'GET', '/openapi.json')).body as {
      paths: Record<string, Record<string, { requestBody?: unknown }>>;
    };
    const cases = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { requestBody }]) => requestBody !== undefined && !BODIES.some((body) => body[1] === path))
        .flatMap(([method]) => badBodies(method.toUpperCase(), path.replace(/\{\w+\}/g, 'x'), 'reason')),
    );
    await refusesAll(cases);
  });

  it('would be seen to change by one good request', async () => {
    const before = await state();
    expect((await call(running.url, 'POST', '/v1/agents', AGENT)).status).toBe(201);
    expect(await state()).not.toEqual(before);
  });
});
