/** The OpenAPI 3.1 document, written from the endpoints themselves: an endpoint that runs is an endpoint described. */
import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import { z } from 'zod';
import { problemSchema } from '../contract/index.ts';
import { ERRORS, type ErrorCode } from '../core/index.ts';
import type { Endpoint, HeaderDoc, ReplyDoc } from './endpoint.ts';
import { problemType } from './problem-response.ts';

type Responses = RouteConfig['responses'];

const REQUEST_ID: HeaderDoc = {
  name: 'X-Request-Id',
  description: "The caller's X-Request-Id where it sent a usable one, else one of the service's.",
  example: 'req_8k2m1',
};
const RETRY_AFTER: HeaderDoc = {
  name: 'Retry-After',
  description: 'Seconds to wait before the same request may succeed.',
  example: '1',
};
const CHALLENGE: HeaderDoc = {
  name: 'WWW-Authenticate',
  description: 'How to send the API key.',
  example: 'Bearer realm="agent-reach"',
};
const ADDED_HEADERS: Readonly<Record<number, readonly HeaderDoc[]>> = { 401: [CHALLENGE], 503: [RETRY_AFTER] };

const EVERYWHERE: readonly ErrorCode[] = ['AR_ERR_INVALID_REQUEST', 'AR_ERR_INTERNAL', 'AR_ERR_STOPPING'];
const WITH_KEY: readonly ErrorCode[] = ['AR_ERR_UNAUTHENTICATED', 'AR_ERR_FORBIDDEN'];
const WITH_BODY: readonly ErrorCode[] = [
  'AR_ERR_MALFORMED_JSON',
  'AR_ERR_BODY_TOO_LARGE',
  'AR_ERR_UNSUPPORTED_MEDIA_TYPE',
];

export function registerEndpoints(app: OpenAPIHono, endpoints: readonly Endpoint[]): void {
  const bearer = app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  const header = app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
  });
  const needsKey = [{ [bearer.name]: [] }, { [header.name]: [] }];
  for (const one of endpoints) {
    app.openAPIRegistry.registerPath({
      method: one.method,
      path: one.path,
      operationId: one.operationId,
      tags: [one.tag],
      summary: one.summary,
      description: [one.description, accessText(one)].filter((text) => text !== undefined).join('\n\n'),
      security: one.access === 'open' ? [] : needsKey,
      request: requestOf(one),
      responses: { ...repliesOf(one), ...problemsOf(one) },
    });
  }
}

export function writeDocument(app: OpenAPIHono, version: string): object {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Agent-Reach',
      version,
      description:
        'Says which live agent can best do what a caller asks for, in Chinese or English. Errors are RFC 9457 ' +
        'problems with a stable `code`; every answer carries `X-Request-Id`.',
    },
    servers: [{ url: '/' }],
  });
}

function accessText(one: Endpoint): string {
  if (typeof one.access === 'function') return 'Needs an API key; the scope depends on the headers.';
  if (one.access === 'open') return 'Needs no API key.';
  return one.access === 'key' ? 'Needs any API key.' : `Needs an API key with the scope \`${one.access}\`.`;
}

function requestOf(one: Endpoint): NonNullable<RouteConfig['request']> {
  const headers = (one.headers ?? []).map(({ name, description, example }) => [
    name,
    z.string().optional().meta({ description, example }),
  ]);
  return {
    ...(one.params === undefined ? {} : { params: one.params }),
    ...(one.query === undefined ? {} : { query: one.query }),
    ...(headers.length === 0 ? {} : { headers: z.object(Object.fromEntries(headers)) }),
    ...(one.body === undefined
      ? {}
      : {
          body: {
            required: one.body.emptyValue === undefined,
            content: { 'application/json': { schema: one.body.schema, example: one.body.example } },
          },
        }),
  };
}

function repliesOf(one: Endpoint): Responses {
  const entries = Object.entries(one.replies).map(([status, doc]) => [
    status,
    { description: doc.description, headers: headersOf(doc.headers), ...contentOf(doc) },
  ]);
  return Object.fromEntries(entries);
}

interface DescribedHeader {
  readonly description: string;
  readonly schema: { readonly type: 'string' };
  readonly example: string;
}

function headersOf(added: readonly HeaderDoc[] = []): Record<string, DescribedHeader> {
  const entries = [REQUEST_ID, ...added].map(({ name, description, example }) => [
    name,
    { description, schema: { type: 'string' }, example },
  ]);
  return Object.fromEntries(entries);
}

function contentOf(doc: ReplyDoc): { content?: Record<string, { schema: z.ZodType; example: unknown }> } {
  if (doc.example === undefined) return {};
  const type = doc.contentType ?? 'application/json';
  const content = { [type]: { schema: doc.schema ?? z.string(), example: doc.example } };
  if (doc.stream !== undefined) content[doc.stream.contentType] = { schema: z.string(), example: doc.stream.example };
  return { content };
}

function problemsOf(one: Endpoint): Responses {
  const codes = new Set([
    ...EVERYWHERE.filter((code) => !(code === 'AR_ERR_STOPPING' && one.answersWhileStopping)),
    ...(one.access === 'open' ? [] : WITH_KEY),
    ...(one.body === undefined ? [] : WITH_BODY),
    ...one.errors,
  ]);
  const statuses = [...new Set([...codes].map((code) => ERRORS[code].status))].sort();
  const responses = statuses.map((status) => {
    const group = [...codes].filter((code) => ERRORS[code].status === status);
    const examples = group.map((code) => [code, { summary: ERRORS[code].title, value: exampleOf(code) }]);
    const content = { schema: problemSchema, examples: Object.fromEntries(examples) };
    const headers = headersOf(ADDED_HEADERS[status]);
    return [status, { description: group.join(', '), headers, content: { 'application/problem+json': content } }];
  });
  return Object.fromEntries(responses);
}

function exampleOf(code: ErrorCode): object {
  const { status, title, retryable } = ERRORS[code];
  const base = { type: problemType(code), title, status, detail: title, code, requestId: 'req_8k2m1', retryable };
  return { ...base, issues: [] };
}
