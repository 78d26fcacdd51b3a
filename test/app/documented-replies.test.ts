/** Each route of the running service against its own OpenAPI document: what it answers is what it says it answers. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answer, call, registration } from './client.ts';
import { type InMemoryService, startInMemoryService } from './in-memory-service.ts';

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}
interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: { example?: string };
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly headers: object; readonly content?: Record<string, Media> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}
interface Sent {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly status: number;
}

const WEATHER = { name: 'weather.query.city', description: 'Weather forecast for a city', examples: ['天气'] };
const AGENT = registration('weather-1', [WEATHER], { zone: 'hz-1', tags: { tier: 'gold' }, ttl: 3_600 });
const RULE = { id: 'weather', match: 'contains', patterns: ['下雨'], capability: 'weather.query.city' };
const LEASE = 'LEASE';

/** In this order: later ones need what earlier ones made. */
const REQUESTS: readonly (readonly [operation: string, sent: Sent])[] = [
  ['get /', { path: '/', status: 200 }],
  ['get /docs', { path: '/docs', status: 200 }],
  ['get /docs/{file}', { path: '/docs/init.js', status: 200 }],
  ['get /docs/{file}', { path: '/docs/none.js', status: 404 }],
  ['get /healthz', { path: '/healthz', status: 200 }],
  ['get /readyz', { path: '/readyz', status: 200 }],
  ['get /metrics', { path: '/metrics', status: 200 }],
  ['get /openapi.json', { path: '/openapi.json', status: 200 }],
  ['post /v1/agents', { path: '/v1/agents', body: AGENT, status: 201 }],
  ['post /v1/agents', { path: '/v1/agents', body: { ...AGENT, capabilities: ['weather'] }, status: 400 }],
  ['post /v1/agents', { path: '/v1/agents', body: { ...AGENT, agentId: 'weather-2' }, status: 201 }],
  ['get /v1/agents', { path: '/v1/agents?limit=1', status: 200 }],
  ['get /v1/agents', { path: '/v1/agents?cursor=x', status: 400 }],
  ['get /v1/agents', { path: '/v1/agents?waitIndex=0&waitMs=0', status: 200 }],
  ['get /v1/events', { path: '/v1/events', status: 200 }],
  ['get /v1/events', { path: '/v1/events?since=x', status: 400 }],
  ['get /v1/events', { path: '/v1/events?since=another-1-0', status: 410 }],
  ['get /v1/agents/{agentId}', { path: '/v1/agents/weather-1', status: 200 }],
  ['get /v1/agents/{agentId}', { path: '/v1/agents/nobody', status: 404 }],
  [
    'put /v1/agents/{agentId}/heartbeat',
    { path: '/v1/agents/weather-1/heartbeat', body: { leaseId: LEASE, load: { active: 2, max: 8 } }, status: 200 },
  ],
  [
    'put /v1/agents/{agentId}/heartbeat',
    { path: '/v1/agents/weather-1/heartbeat', body: { leaseId: 'x' }, status: 409 },
  ],
  ['get /v1/agents/{agentId}', { path: '/v1/agents/weather-1', status: 200 }],
  [
    'post /v1/heartbeats',
    {
      path: '/v1/heartbeats',
      body: {
        beats: [
          { agentId: 'weather-1', leaseId: LEASE },
          { agentId: 'nobody', leaseId: 'x' },
        ],
      },
      status: 200,
    },
  ],
  [
    'post /v1/agents/{agentId}/report',
    { path: '/v1/agents/weather-1/report', body: { outcome: 'failure', requestId: 'r' }, status: 200 },
  ],
  ['post /v1/route', { path: '/v1/route', body: { capability: 'weather.query.city', explain: true }, status: 200 }],
  [
    'post /v1/agents/{agentId}/cordon',
    { path: '/v1/agents/weather-1/cordon', body: { reason: 'a test' }, status: 200 },
  ],
  ['get /v1/agents', { path: '/v1/agents?state=cordoned', status: 200 }],
  ['delete /v1/agents/{agentId}/cordon', { path: '/v1/agents/weather-1/cordon', status: 200 }],
  ['post /v1/agents/{agentId}/drain', { path: '/v1/agents/weather-1/drain', status: 200 }],
  ['delete /v1/agents/{agentId}/drain', { path: '/v1/agents/weather-1/drain', status: 200 }],
  ['post /v1/agents/{agentId}/cordon', { path: '/v1/agents/nobody/cordon', body: { reason: 'a test' }, status: 404 }],
  ['get /v1/capabilities', { path: '/v1/capabilities', status: 200 }],
  ['get /v1/capabilities/{name}', { path: '/v1/capabilities/weather.query.city', status: 200 }],
  ['get /v1/capabilities/{name}', { path: '/v1/capabilities/weather.query.citi', status: 404 }],
  [
    'patch /v1/capabilities/{name}',
    { path: '/v1/capabilities/weather.query.city', body: { description: 'x' }, status: 200 },
  ],
  ['post /v1/rules', { path: '/v1/rules', body: RULE, status: 201 }],
  ['post /v1/rules', { path: '/v1/rules', body: { ...RULE, priority: 3 }, status: 200 }],
  ['post /v1/rules', { path: '/v1/rules', body: { ...RULE, match: 'regex', patterns: ['(['] }, status: 400 }],
  ['get /v1/rules', { path: '/v1/rules', status: 200 }],
  ['get /v1/rules/{id}', { path: '/v1/rules/weather', status: 200 }],
  ['get /v1/rules/history', { path: '/v1/rules/history', status: 200 }],
  ['post /v1/rules/dry-run', { path: '/v1/rules/dry-run', body: { intent: '会下雨吗' }, status: 200 }],
  ['post /v1/route', { path: '/v1/route', body: { intent: '会下雨吗', explain: true }, status: 200 }],
  ['post /v1/route', { path: '/v1/route', body: { intent: '天气', explain: true, minRelevance: 0 }, status: 200 }],
  ['post /v1/route', { path: '/v1/route', body: { intent: 'zzz qqq', explain: true }, status: 200 }],
  ['post /v1/route', { path: '/v1/route', body: { capability: 'nobody.does.this' }, status: 200 }],
  ['post /v1/route', { path: '/v1/route', body: { intent: '😀' }, status: 400 }],
  [
    'post /v1/route/batch',
    { path: '/v1/route/batch', body: { requests: [{ intent: '天气' }, { intent: 'x' }] }, status: 200 },
  ],
  ['post /v1/index/rebuild', { path: '/v1/index/rebuild', body: { reason: 'a test' }, status: 200 }],
  [
    'post /v1/index/rebuild',
    { path: '/v1/index/rebuild', body: {}, headers: { accept: 'text/event-stream' }, status: 200 },
  ],
  ['get /v1/index/versions', { path: '/v1/index/versions', status: 200 }],
  ['delete /v1/rules/{id}', { path: '/v1/rules/weather', status: 204 }],
  ['delete /v1/agents/{agentId}', { path: '/v1/agents/weather-1', headers: { 'agent-lease': LEASE }, status: 204 }],
  ['delete /v1/agents/{agentId}', { path: '/v1/agents/weather-1', status: 404 }],
];

let running: InMemoryService;
let document: Document;
let errorsOf: (schema: object, value: unknown) => string;

beforeAll(async () => {
  running = await startInMemoryService();
  document = (await call(running.url, 'GET', '/openapi.json')).body;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'http://document/', components: document.components });
  errorsOf = (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"http://document/#/components/');
    const validate = ajv.compile(JSON.parse(text));
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };
});
afterAll(() => running.stop());

function operationOf(name: string): Operation {
  const [method = '', path = ''] = name.split(' ');
  const operation = document.paths[path]?.[method];
  if (operation === undefined) throw new Error(`the document has no ${name}`);
  return operation;
}

/** What of the answer the document does not say, in words. */
function surprisesOf(name: string, answer: Answer): string[] {
  const described = operationOf(name).responses[answer.status];
  if (described === undefined) return [`${name}: status ${answer.status} is not in the document`];
  const type = (answer.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  const surprises = Object.keys(described.headers)
    .filter((header) => header !== 'Retry-After' && !answer.headers.has(header))
    .map((header) => `${name}: no header ${header}`);
  if (answer.body === '') return surprises;
  const media = described.content?.[type];
  // The page's script and style share one row of the document.
  if (media === undefined) return type.startsWith('text/css') ? surprises : [...surprises, `${name}: type "${type}"`];
  const errors = errorsOf(media.schema, answer.body);
  return errors === '' ? surprises : [...surprises, `${name}: ${errors}`];
}

it('answers each request with a status, a type and a body that its document names', async () => {
  let leaseId = '';
  const surprises: string[] = [];
  for (const [name, { path, body, headers = {}, status }] of REQUESTS) {
    const method = name.split(' ', 1)[0]?.toUpperCase() ?? '';
    const sent = body === undefined ? undefined : JSON.stringify(body).replace(LEASE, leaseId);
    const sentHeaders = Object.fromEntries(
      Object.entries(headers).map(([key, text]) => [key, text.replace(LEASE, leaseId)]),
    );
    const answer = await call(running.url, method, path, sent, sentHeaders);
    if (answer.body.agentId === 'weather-1' && answer.status === 201) ({ leaseId } = answer.body);
    if (answer.status !== status) surprises.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    surprises.push(...surprisesOf(name, answer));
  }
  expect(surprises).toEqual([]);
});

it('answers the examples of routes that the table above does not hold as documented', async () => {
  const surprises: string[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method} ${path}`;
      if (REQUESTS.some(([one]) => one === name)) continue;
      const parameters = operation.parameters ?? [];
      const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
        const example = parameters.find((one) => one.in === 'path' && one.name === parameter)?.schema.example;
        return encodeURIComponent(example ?? 'x');
      });
      const example = operation.requestBody?.content['application/json']?.example;
      surprises.push(...surprisesOf(name, await call(running.url, method.toUpperCase(), filled, example)));
    }
  }
  expect(surprises).toEqual([]);
});
