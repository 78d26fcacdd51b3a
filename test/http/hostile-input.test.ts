import { beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../src/contract/index.ts';
import { ERRORS, type ErrorCode } from '../../src/core/index.ts';
import { createHttpApp, type HttpApp } from '../../src/http/index.ts';
import { createStandIn, type StandInServices } from './stand-in-services.ts';

const REGISTRATION = {
  agentId: 'weather-1',
  capabilities: ['weather.query.city'],
  transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
};
const LEASE = { leaseId: 'lease_1' };
const RULE = { id: 'invoice', match: 'contains', patterns: ['开发票'], capability: 'finance.issue.invoice' };
const deep = (levels: number): string => `{"intent":${'['.repeat(levels)}${']'.repeat(levels)}}`;

interface Case {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly code: ErrorCode;
  /** Path of one of the issues. */
  readonly at?: string;
}

const INVALID = 'AR_ERR_INVALID_REQUEST';
const BODIES = [
  ['POST', '/v1/agents'],
  ['PUT', '/v1/agents/weather-1/heartbeat'],
  ['POST', '/v1/heartbeats'],
  ['POST', '/v1/agents/weather-1/report'],
  ['POST', '/v1/agents/weather-1/cordon'],
  ['POST', '/v1/agents/weather-1/drain'],
  ['PATCH', '/v1/capabilities/weather.query.city'],
  ['POST', '/v1/route'],
  ['POST', '/v1/route/batch'],
  ['POST', '/v1/rules'],
  ['POST', '/v1/rules/dry-run'],
  ['POST', '/v1/index/rebuild'],
] as const;

const everyBody: Case[] = BODIES.flatMap(([method, path]) => [
  { what: 'a body cut short', method, path, body: '{"a":', code: 'AR_ERR_MALFORMED_JSON' },
  { what: 'NaN', method, path, body: '{"load":NaN}', code: 'AR_ERR_MALFORMED_JSON' },
  { what: 'blanks only', method, path, body: '  \n', code: 'AR_ERR_MALFORMED_JSON' },
  {
    what: 'bytes that are not UTF-8',
    method,
    path,
    body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    code: 'AR_ERR_MALFORMED_JSON',
  },
  { what: 'null', method, path, body: 'null', code: INVALID },
  { what: 'a list', method, path, body: '[]', code: INVALID },
  { what: 'a bare word', method, path, body: '"hello"', code: INVALID },
  { what: '100,000 levels', method, path, body: deep(100_000), code: INVALID },
  { what: '65 levels', method, path, body: deep(64), code: INVALID },
  { what: 'an unknown field', method, path, body: { surprise: 1 }, code: INVALID, at: 'surprise' },
  { what: '__proto__ as a field', method, path, body: '{"__proto__":{"admin":true}}', code: INVALID },
  { what: 'a lone surrogate anywhere', method, path, body: '{"x":{"y":"\\ud800"}}', code: INVALID, at: 'x.y' },
  { what: 'an unknown query name', method, path: `${path}?surprise=1`, body: {}, code: INVALID, at: 'query.surprise' },
  {
    what: 'text/plain',
    method,
    path,
    body: '{}',
    headers: { 'content-type': 'text/plain' },
    code: 'AR_ERR_UNSUPPORTED_MEDIA_TYPE',
  },
  {
    what: 'another charset',
    method,
    path,
    body: '{}',
    headers: { 'content-type': 'application/json; charset=gbk' },
    code: 'AR_ERR_UNSUPPORTED_MEDIA_TYPE',
  },
  {
    what: 'a compressed body',
    method,
    path,
    body: '{}',
    headers: { 'content-encoding': 'gzip' },
    code: 'AR_ERR_UNSUPPORTED_MEDIA_TYPE',
  },
  { what: 'too many bytes', method, path, body: `"${'a'.repeat(1_048_576)}"`, code: 'AR_ERR_BODY_TOO_LARGE' },
]);

const register = (what: string, change: object, at: string): Case => ({
  what,
  method: 'POST',
  path: '/v1/agents',
  body: { ...REGISTRATION, ...change },
  code: INVALID,
  at,
});
const beat = (what: string, change: object, at: string): Case => ({
  what,
  method: 'PUT',
  path: '/v1/agents/weather-1/heartbeat',
  body: { ...LEASE, ...change },
  code: INVALID,
  at,
});
const route = (what: string, body: object, at: string, code: ErrorCode = INVALID): Case => ({
  what,
  method: 'POST',
  path: '/v1/route',
  body,
  code,
  at,
});
const rule = (what: string, change: object, at: string): Case => ({
  what,
  method: 'POST',
  path: '/v1/rules',
  body: { ...RULE, ...change },
  code: INVALID,
  at,
});
const get = (what: string, path: string, at?: string, code: ErrorCode = INVALID): Case => ({
  what,
  method: 'GET',
  path,
  code,
  ...(at === undefined ? {} : { at }),
});

const health = (path: string, what: string, body: unknown, at: string): Case => ({
  what,
  method: 'POST',
  path: `/v1/${path}`,
  body,
  code: INVALID,
  at,
});

const fields: Case[] = [
  register('no capability', { capabilities: [] }, 'capabilities'),
  register('257 capabilities', { capabilities: Array(257).fill('a.b.c') }, 'capabilities'),
  register('a number as capability', { capabilities: [7] }, 'capabilities[0]'),
  register('a capability without a name', { capabilities: [{ description: 'x' }] }, 'capabilities[0].name'),
  register(
    'a misspelt capability field',
    { capabilities: [{ name: 'a.b.c', descripton: 'x' }] },
    'capabilities[0].descripton',
  ),
  register('no transport', { transport: undefined }, 'transport'),
  register('an unknown transport', { transport: { type: 'smoke' } }, 'transport.type'),
  register('negative concurrency', { maxConcurrency: -1 }, 'maxConcurrency'),
  register('concurrency of a half', { maxConcurrency: 0.5 }, 'maxConcurrency'),
  register('concurrency as text', { maxConcurrency: '8' }, 'maxConcurrency'),
  register('an agent id with a slash', { agentId: 'a/b' }, 'agentId'),
  register('an agent id of 129 letters', { agentId: 'a'.repeat(129) }, 'agentId'),
  register('an emoji as agent id', { agentId: '🤖' }, 'agentId'),
  register('a blank agent name', { agentName: '   ' }, 'agentName'),
  register('65 tags', { tags: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`t${at}`, 'x'])) }, 'tags'),
  register(
    '60,000 tags',
    { tags: Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`t${at}`, 'x'])) },
    'tags',
  ),
  register('metadata over 16 KB', { metadata: { note: 'x'.repeat(20_000) } }, 'metadata'),
  ...['tags', 'metadata'].flatMap((field) => [
    {
      ...register(`__proto__ in ${field}`, {}, `${field}.__proto__`),
      body: `{"agentId":"a","capabilities":["a.b.c"],"transport":{"type":"local"},"${field}":{"__proto__":"x"}}`,
    },
    {
      ...register(`an escaped __proto__ in ${field}`, {}, `${field}.__proto__`),
      body: `{"agentId":"a","capabilities":["a.b.c"],"transport":{"type":"local"},"${field}":{"__prot\\u006f__":"x"}}`,
    },
  ]),
  register('a field that every object has', { constructor: 'x' }, 'constructor'),
  register('expiresAt that is no date', { expiresAt: 'tomorrow' }, 'expiresAt'),
  register('expiresAt and ttl', { expiresAt: '2030-01-01T00:00:00Z', ttl: 5 }, 'ttl'),
  register('two spellings of one field', { agent_name: 'x', agentName: 'y' }, 'agent_name'),
  register('a namespace with capitals', { namespace: 'Prod' }, 'namespace'),
  beat('no lease', { leaseId: undefined }, 'leaseId'),
  beat('a negative load', { load: { active: -1 } }, 'load.active'),
  beat('an infinite load', { load: { active: Number.POSITIVE_INFINITY } }, 'load.active'),
  beat('max 0', { load: { active: 0, max: 0 } }, 'load.max'),
  beat('a load of 1e9', { load: { active: 1e9 } }, 'load.active'),
  beat('a drain of no known length', { status: 'draining', drainTimeoutMs: -1 }, 'drainTimeoutMs'),
  beat('an unknown status', { status: 'asleep' }, 'status'),
  beat('a negative latency', { avgLatencyMs: -1 }, 'avgLatencyMs'),
  health('heartbeats', 'no beats', { beats: [] }, 'beats'),
  health('heartbeats', '1,001 beats', { beats: Array(1_001).fill({ agentId: 'a', ...LEASE }) }, 'beats'),
  health('heartbeats', 'a beat of nobody', { beats: [{ agentId: 'a', ...LEASE }, LEASE] }, 'beats[1].agentId'),
  health('agents/a/report', 'an unknown outcome', { outcome: 'lost' }, 'outcome'),
  health('agents/a/cordon', 'a cordon without a reason', { reason: ' ' }, 'reason'),
  health('agents/a/drain', 'a drain of a year', { drainTimeoutMs: 3e10 }, 'drainTimeoutMs'),
  route('neither intent nor capability', {}, 'intent'),
  route('both intent and capability', { intent: 'x', capability: 'a.b.c' }, 'intent'),
  route('an intent of 10 kB', { intent: 'rain '.repeat(2_000) }, 'intent'),
  route('an intent that is a number', { intent: 7 }, 'intent'),
  route('topK 0', { intent: 'rain', topK: 0 }, 'topK'),
  route('topK -1', { intent: 'rain', topK: -1 }, 'topK'),
  route('topK 1e9', { intent: 'rain', topK: 1e9 }, 'topK'),
  route('a relevance of 2', { intent: 'rain', minRelevance: 2 }, 'minRelevance'),
  route('an unknown strategy', { intent: 'rain', strategy: 'fastest' }, 'strategy'),
  route('257 exclusions', { intent: 'rain', exclude: Array(257).fill('a') }, 'exclude'),
  { ...route('257 intents', { requests: Array(257).fill({ intent: 'x' }) }, 'requests'), path: '/v1/route/batch' },
  { ...route('no intents', { requests: [] }, 'requests'), path: '/v1/route/batch' },
  {
    ...route('one bad of two', { requests: [{ intent: 'x' }, { intent: 'y', topK: 0 }] }, 'requests[1].topK'),
    path: '/v1/route/batch',
  },
  rule('neither capability nor deny', { capability: undefined }, 'capability'),
  rule('both capability and deny', { deny: true }, 'capability'),
  rule('no pattern', { patterns: [] }, 'patterns'),
  rule('an unknown match', { match: 'fuzzy' }, 'match'),
  rule('an id with a slash', { id: 'a/b' }, 'id'),
  {
    what: 'an If-Match that is no version',
    method: 'POST',
    path: '/v1/rules',
    body: RULE,
    headers: { 'if-match': '"abc"' },
    code: INVALID,
    at: 'headers.If-Match',
  },
  get('limit 0', '/v1/agents?limit=0', 'query.limit'),
  get('limit -1', '/v1/agents?limit=-1', 'query.limit'),
  get('limit 1e9', '/v1/agents?limit=1e9', 'query.limit'),
  get('a limit that is no number', '/v1/agents?limit=ten', 'query.limit'),
  get('a limit in hex', '/v1/agents?limit=0x10', 'query.limit'),
  get('a limit with a space', '/v1/audit?limit=%201', 'query.limit'),
  get('a limit with a fraction', '/v1/feedback?limit=1.0', 'query.limit'),
  get('an empty limit', '/v1/rules/history?limit=', 'query.limit'),
  get('a limit given twice', '/v1/agents?limit=1&limit=2', 'query.limit'),
  get('an unknown state', '/v1/agents?state=asleep', 'query.state'),
  get('a query that is not UTF-8', '/v1/agents?zone=%ff', 'query'),
  get('a misspelt query name', '/v1/agents?capabilty=a.b.c', 'query.capabilty'),
  get('a path that is not UTF-8', '/v1/agents/%ff', 'path'),
  get('broken percent-encoding', '/v1/agents/%zz', 'path'),
  get('a NUL in the path', '/v1/agents/a%00b', 'path.agentId'),
  get('a slash in an agent id', '/v1/agents/a%2Fb', 'path.agentId'),
  get('a path parameter of 10 kB', `/v1/agents/${'a'.repeat(10_000)}`, 'path.agentId'),
  get('an unknown agent', '/v1/agents/nobody', undefined, 'AR_ERR_AGENT_NOT_FOUND'),
  get('an unknown capability', '/v1/capabilities/no.such.name', undefined, 'AR_ERR_CAPABILITY_NOT_FOUND'),
  get('an unknown rule', '/v1/rules/nothing', undefined, 'AR_ERR_RULE_NOT_FOUND'),
  get('an unknown address', '/v1/nothing', undefined, 'AR_ERR_NOT_FOUND'),
  get('a file above the docs', '/docs/..%2F..%2Fpackage.json', undefined, 'AR_ERR_NOT_FOUND'),
  get('a docs file named __proto__', '/docs/__proto__', undefined, 'AR_ERR_NOT_FOUND'),
  {
    what: 'an Agent-Lease of 129 letters',
    method: 'DELETE',
    path: '/v1/agents/weather-1',
    headers: { 'agent-lease': 'l'.repeat(129) },
    code: INVALID,
    at: 'headers.Agent-Lease',
  },
];

describe('hostile input', () => {
  let services: StandInServices;
  let app: HttpApp;
  beforeAll(() => {
    services = createStandIn();
    app = createHttpApp(services, { host: '127.0.0.1', apiKeys: [] });
  });

  async function send({ method, path, body, headers = {} }: Case): Promise<Response> {
    const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const init = { method, headers: { 'content-type': 'application/json', ...headers } };
    const request = new Request(
      `http://localhost${path}`,
      body === undefined ? init : { ...init, body: sent as string },
    );
    return app.fetch(request);
  }

  it.each(
    [...everyBody, ...fields].map((one) => [`${one.method} ${one.path.slice(0, 50)}: ${one.what}`, one] as const),
  )('refuses %s', async (_name, one) => {
    const before = services.calls.length;
    const response = await send(one);
    const text = await response.text();
    const problem = problemSchema.parse(JSON.parse(text));
    expect(problem.code).toBe(one.code);
    expect(response.status).toBe(ERRORS[one.code].status);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(problem.requestId).toBe(response.headers.get('x-request-id'));
    if (one.at !== undefined) expect(problem.issues.map((issue) => issue.path)).toContain(one.at);
    expect(text.length).toBeLessThan(4_000);
    expect(services.calls.length).toBe(before);
  });

  it('takes 64 levels of nesting', async () => {
    const nested = `${'{"a":'.repeat(62)}1${'}'.repeat(62)}`;
    const body = JSON.stringify(REGISTRATION).replace(/\}$/, `,"metadata":${nested}}`);
    const response = await send({ what: '', method: 'POST', path: '/v1/agents', body, code: INVALID });
    expect(response.status).toBe(201);
  });

  it('passes over a byte order mark', async () => {
    const response = await send({ ...route('', {}, ''), body: Buffer.from('\ufeff{"intent":"雨"}') });
    expect(response.status).toBe(200);
  });

  it('does not count brackets inside strings as nesting', async () => {
    const response = await send(route('', { intent: `${'["{'.repeat(100)}雨\\"` }, ''));
    expect(response.status).toBe(200);
  });

  it('reports at most 32 of many unknown fields and clips their names', async () => {
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${'x'.repeat(300)}${at}`, 1]));
    const response = await send(route('', { intent: 'x', ...body }, ''));
    const problem = problemSchema.parse(await response.json());
    expect(problem.issues).toHaveLength(32);
    expect(Math.max(...problem.issues.map((issue) => issue.path.length))).toBeLessThanOrEqual(64);
  });

  it('suggests the field that was meant', async () => {
    const response = await send(route('', { intnet: '雨' }, ''));
    expect(problemSchema.parse(await response.json()).suggestions).toEqual(['intent']);
  });
});
