import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { rebuildProgressSchema, rebuildReplySchema } from '../../src/contract/index.ts';
import { ERRORS } from '../../src/core/index.ts';
import { AGENT_VIEW } from '../../src/http/agent-examples.ts';
import { REBUILD_EVENTS, ROUTE_REPLY } from '../../src/http/examples.ts';
import { createHttpApp } from '../../src/http/index.ts';
import { DEFAULT_ROUTING } from '../../src/routing/index.ts';
import { createStandIn } from './stand-in-services.ts';

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly headers?: object; readonly content?: Record<string, Media> }
    >
  >;
}
interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object };
}

const app = createHttpApp(createStandIn(), { host: '127.0.0.1', apiKeys: [] });
const document = app.document() as OpenApi;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
);

const ROUTES = [
  'DELETE /v1/agents/{agentId}',
  'DELETE /v1/agents/{agentId}/cordon',
  'DELETE /v1/agents/{agentId}/drain',
  'DELETE /v1/index/golden/{id}',
  'DELETE /v1/rules/{id}',
  'DELETE /v1/strategies',
  'GET /',
  'GET /docs',
  'GET /docs/{file}',
  'GET /healthz',
  'GET /metrics',
  'GET /openapi.json',
  'GET /readyz',
  'GET /v1/agents',
  'GET /v1/agents/{agentId}',
  'GET /v1/audit',
  'GET /v1/capabilities',
  'GET /v1/capabilities/{name}',
  'GET /v1/events',
  'GET /v1/feedback',
  'GET /v1/index/diff',
  'GET /v1/index/golden',
  'GET /v1/index/versions',
  'GET /v1/rules',
  'GET /v1/rules/export',
  'GET /v1/rules/history',
  'GET /v1/rules/lint',
  'GET /v1/rules/{id}',
  'GET /v1/strategies',
  'PATCH /v1/capabilities/{name}',
  'POST /v1/agents',
  'POST /v1/agents/{agentId}/cordon',
  'POST /v1/agents/{agentId}/drain',
  'POST /v1/agents/{agentId}/report',
  'POST /v1/feedback',
  'POST /v1/feedback/{id}/approve',
  'POST /v1/feedback/{id}/reject',
  'POST /v1/heartbeats',
  'POST /v1/index/golden',
  'POST /v1/index/rebuild',
  'POST /v1/index/rollback',
  'POST /v1/index/verify',
  'POST /v1/route',
  'POST /v1/route/batch',
  'POST /v1/rules',
  'POST /v1/rules/dry-run',
  'POST /v1/rules/import',
  'POST /v1/rules/rollback',
  'POST /v1/strategies/reload',
  'PUT /v1/agents/{agentId}/heartbeat',
  'PUT /v1/strategies',
];

describe('the OpenAPI document', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'http://document/', components: document.components });
  const errorsOf = (schema: object, value: unknown): string => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"http://document/#/components/');
    // The referenced schemas refer to each other by the document's own fragments, which resolve inside it.
    const validate = ajv.compile(JSON.parse(text));
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };

  it('is 3.1 and is served as it is written', async () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info).toMatchObject({ title: 'Agent-Reach', version: '9.9.9' });
    const served = await app.fetch(new Request('http://localhost/openapi.json'));
    expect(await served.json()).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('holds every route and no other', () => {
    expect(operations.map((one) => one.name).sort()).toEqual(ROUTES);
  });

  it('gives each operation an id of its own', () => {
    expect(new Set(operations.map((one) => one.operation.operationId)).size).toBe(ROUTES.length);
  });

  it('resolves every reference', () => {
    const names = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((found) => found[1]);
    expect(names.length).toBeGreaterThan(20);
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(names.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  describe.each(operations)('$name', ({ path, operation }) => {
    it('has a summary, says what key it needs and declares its path parameters', () => {
      expect(operation.summary).not.toBe('');
      expect(operation.description).toMatch(/API key/);
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => `{${one.name}}`);
      expect(declared).toEqual([...path.matchAll(/\{\w+\}/g)].map(([found]) => found));
    });

    it('has examples of request and replies that fit their schemas', () => {
      const media = [
        ...Object.values(operation.requestBody?.content ?? {}),
        ...Object.values(operation.responses).flatMap((reply) => Object.values(reply.content ?? {})),
      ];
      let examples = 0;
      for (const { schema, example, examples: named } of media) {
        const values = example === undefined ? Object.values(named ?? {}).map((one) => one.value) : [example];
        expect(values).not.toEqual([]);
        for (const value of values) {
          expect(errorsOf(schema, value)).toBe('');
          examples += 1;
        }
      }
      expect(examples).toBeGreaterThan(0);
      const succeeds = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
      for (const status of succeeds) {
        if (status !== '204') expect(operation.responses[status]?.content).toBeDefined();
      }
    });

    it('says on every answer which request it is of', () => {
      for (const [status, reply] of Object.entries(operation.responses)) {
        expect(Object.keys(reply.headers ?? {}), status).toContain('X-Request-Id');
      }
    });

    it('names every error as a problem with a code of the table and its status', () => {
      for (const [status, reply] of Object.entries(operation.responses)) {
        const problems = reply.content?.['application/problem+json']?.examples;
        if (problems === undefined) continue;
        for (const code of Object.keys(problems))
          expect(ERRORS[code as keyof typeof ERRORS].status).toBe(Number(status));
      }
      expect(Object.keys(operation.responses)).toContain('500');
    });
  });

  it('shows a route whose factors give its score', () => {
    const { relevance, load, latency } = ROUTE_REPLY.factors;
    const weights = DEFAULT_ROUTING.weights as { relevance: number; load: number; latency: number };
    const score = weights.relevance * relevance + weights.load * (1 - load) + weights.latency * (1 - latency);
    expect(ROUTE_REPLY.score).toBeCloseTo(score, 9);
    expect(load).toBe(AGENT_VIEW.load);
    expect(latency).toBe(AGENT_VIEW.avgLatencyMs / DEFAULT_ROUTING.latencyBudgetMs);
    expect(ROUTE_REPLY.alternatives[0].score).toBeLessThan(ROUTE_REPLY.score);
  });

  it('shows rebuild events that are what the stream sends', () => {
    const events = REBUILD_EVENTS.trim()
      .split('\n\n')
      .map((text) => text.split('\n'));
    expect(events.map(([name]) => name)).toEqual(['event: progress', 'event: done']);
    const [progress, done] = events.map(([, data]) => JSON.parse(data?.slice('data: '.length) ?? ''));
    expect(rebuildProgressSchema.parse(progress)).toEqual(progress);
    expect(rebuildReplySchema.parse(done)).toEqual(done);
  });

  it('marks as open only what needs no key', () => {
    const open = operations.filter((one) => one.operation.security.length === 0).map((one) => one.path);
    expect(open.sort()).toEqual(['/', '/docs', '/docs/{file}', '/healthz', '/openapi.json', '/readyz']);
  });
});

describe('the documentation page', () => {
  const get = async (path: string) => {
    const response = await app.fetch(new Request(`http://localhost${path}`));
    return { response, text: await response.text() };
  };

  it('loads nothing from elsewhere and runs no inline script', async () => {
    const { response, text } = await get('/docs');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(response.headers.get('content-security-policy')).not.toContain('script-src');
    expect(text).not.toMatch(/https?:/);
    expect([...text.matchAll(/<script[^>]*>([^<]*)</g)].map((found) => found[1])).toEqual(['', '']);
    for (const [, path] of text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)) {
      expect((await get(`/${path}`)).response.status, path).toBe(200);
    }
  });

  it('asks no public validator', async () => {
    const { response, text } = await get('/docs/init.js');
    expect(response.headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(text).toContain('validatorUrl: null');
  });
});
