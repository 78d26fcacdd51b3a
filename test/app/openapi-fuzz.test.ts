/** Every route of the document, with requests made from its own schemas: right ones, nearly right ones, and junk. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ERRORS } from '../../src/core/index.ts';
import { type Answer, call, registration } from './client.ts';
import { type InMemoryService, startInMemoryService } from './in-memory-service.ts';
import { type Components, type JsonSchema, ODD_VALUES, spoilt, valueFrom } from './schema-values.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: JsonSchema;
}
interface Media {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, object>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Components };
}
interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const RUNS = 30;
/** Each right one of these starts a thread and waits for it. */
const SLOW = new Map([
  ['post /v1/index/rebuild', 6],
  ['post /v1/index/verify', 6],
  ['post /v1/index/rollback', 12],
]);
const SEED = 20_260_401;
/** What the service under test holds, so that requests get past the first check. */
const KNOWN = ['weather-1', 'weather.query.city', 'weather', 'v000001', 'fb_1', 'init.js', 'default'];
/** Answers of the server itself and of the router, which the document of one operation does not list. */
const ANY_OPERATION = [400, 404, 405, 413, 414, 415, 431];

let running: InMemoryService;
let document: Document;

beforeAll(async () => {
  running = await startInMemoryService();
  const { url } = running;
  document = (await call(url, 'GET', '/openapi.json')).body;
  const weather = { name: 'weather.query.city', description: 'weather forecast for a city' };
  const rule = { id: 'weather', match: 'contains', patterns: ['下雨'], capability: weather.name };
  const wrong = { intent: 'will it rain', capability: weather.name };
  const golden = [{ id: 'weather', text: 'weather forecast', capability: weather.name }];
  for (const [path, body] of [
    ['/v1/agents', registration('weather-1', [weather])],
    ['/v1/rules', rule],
    ['/v1/index/golden', { lines: golden }],
    ['/v1/index/golden', { items: golden }],
    ['/v1/feedback', wrong],
    ['/v1/index/rebuild', {}],
  ] as const) {
    await call(url, 'POST', path, body);
  }
});
afterAll(() => running.stop());

const oddText = fc.constantFrom(...ODD_VALUES.map((odd) => (typeof odd === 'string' ? odd : JSON.stringify(odd))));
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
/** At most 2,000 characters: the rest of a long address tells nothing more. */
const encoded = (text: string): string => encodeURIComponent(text.slice(0, 2_000).toWellFormed());

function parameterText({ schema }: Parameter): fc.Arbitrary<string> {
  const right = valueFrom(schema, document.components.schemas).map(asText);
  return fc.oneof(
    { weight: 6, arbitrary: schema.example === undefined ? right : fc.constant(asText(schema.example)) },
    { weight: 3, arbitrary: fc.constantFrom(...KNOWN) },
    { weight: 2, arbitrary: right },
    { weight: 1, arbitrary: oddText },
  );
}

function queryText({ schema }: Parameter): fc.Arbitrary<string> {
  const right = valueFrom(schema, document.components.schemas).map(asText);
  return fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: oddText });
}

/** The example of the document, often with one or more fields as the schema would have them too, or the schema alone. */
function rightBody({ schema, example }: Media): fc.Arbitrary<unknown> {
  const made = valueFrom(schema, document.components.schemas);
  if (typeof example !== 'object' || example === null) return made;
  const mixed = fc.tuple(made, fc.array(fc.nat(30), { maxLength: 3 })).map(([value, picks]) => {
    const fields = Object.entries(value ?? {});
    const picked = picks.flatMap((pick) => fields.slice(pick, pick + 1));
    return { ...example, ...Object.fromEntries(picked) };
  });
  return fc.oneof({ weight: 3, arbitrary: mixed }, { weight: 1, arbitrary: made });
}

function pathOf(template: string, parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const inPath = parameters.filter((one) => one.in === 'path');
  const texts = inPath.map((one) =>
    fc.oneof(
      { weight: 9, arbitrary: parameterText(one).map(encoded) },
      { weight: 1, arbitrary: fc.constantFrom('%', '%FF', '%2F') },
    ),
  );
  return fc
    .tuple(...texts)
    .map((values) => inPath.reduce((path, { name }, i) => path.replace(`{${name}}`, values[i] ?? ''), template));
}

function queryOf(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const inQuery = parameters.filter((one) => one.in === 'query');
  const right = fc.record(Object.fromEntries(inQuery.map((one) => [one.name, queryText(one)])), {
    requiredKeys: [],
  });
  const extra = fc.oneof(
    { weight: 6, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('surprise=1', '__proto__=1', 'limit=1&limit=2', '=', '&&&', 'a=%FF') },
  );
  return fc.tuple(right, extra).map(([values, more]) => {
    const pairs = Object.entries(values).map(([name, text]) => `${name}=${encoded(String(text))}`);
    const all = [...pairs, ...(more === '' ? [] : [more])].join('&');
    return all === '' ? '' : `?${all}`;
  });
}

function bodyOf(operation: Operation): fc.Arbitrary<string | undefined> {
  const media = operation.requestBody?.content['application/json'];
  if (media === undefined) return fc.constant(undefined);
  const right = rightBody(media);
  const written = (value: unknown): string => JSON.stringify(value) ?? '';
  return fc.oneof(
    { weight: 4, arbitrary: right.map(written) },
    { weight: 8, arbitrary: spoilt(right).map(written) },
    { weight: 1, arbitrary: right.map((value) => written(value).slice(0, -1)) },
    { weight: 1, arbitrary: fc.constantFrom('', '[]', '"x"', 'null', '{"__proto__":{"a":1}}', '\u0000') },
  );
}

function headersOf(operation: Operation, parameters: readonly Parameter[]): fc.Arbitrary<Record<string, string>> {
  const known = parameters.filter((one) => one.in === 'header').map(({ name }) => name.toLowerCase());
  const value = fc.constantFrom('"1"', '"0"', '*', '"', 'lease_1', 'W/"3"', '-1', '"99999999999999999999"', 'x y');
  const type = fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('text/plain', 'application/json; charset=gbk', 'x', 'multipart/form-data'),
    },
  );
  const hasBody = operation.requestBody !== undefined;
  const fields: Record<string, fc.Arbitrary<string>> = Object.fromEntries(known.map((name) => [name, value]));
  if (hasBody) fields['content-type'] = type;
  return fc.record(fields, { requiredKeys: hasBody ? ['content-type'] : [] }) as fc.Arbitrary<Record<string, string>>;
}

function requestOf(path: string, operation: Operation): fc.Arbitrary<Request> {
  const parameters = operation.parameters ?? [];
  return fc
    .tuple(pathOf(path, parameters), queryOf(parameters), headersOf(operation, parameters), bodyOf(operation))
    .map(([filled, query, headers, body]) => ({ path: filled + query, headers, body }));
}

function flawOf(answer: Answer, operation: Operation): string | null {
  const { status, body } = answer;
  if (status < 400) return status in operation.responses ? null : `status ${status} is not in the document`;
  const code: unknown = body?.code;
  const known = Object.entries(ERRORS).find(([one]) => one === code)?.[1];
  if (known === undefined) return `${status} without a known code: ${JSON.stringify(body)}`;
  if (known.status !== status) return `${status} with the code ${String(code)}`;
  if (status >= 500 && (status !== 503 || !('503' in operation.responses))) return JSON.stringify(body);
  if (status < 500 && !(status in operation.responses) && !ANY_OPERATION.includes(status)) {
    return `status ${status} is not in the document`;
  }
  const type = answer.headers.get('content-type') ?? '';
  return type.startsWith('application/problem+json') ? null : `a problem as ${type}`;
}

/** What a refused request must leave as it was. */
async function stateOf({ url, service }: InMemoryService): Promise<string> {
  const { registry, rules } = service.parts;
  const kept = ['/v1/agents?limit=500', '/v1/capabilities?limit=500', '/v1/index/golden', '/v1/feedback'];
  const answers = await Promise.all(kept.map((path) => call(url, 'GET', path)));
  const lists = answers.map(({ body }) => JSON.stringify(body, (key, value) => (key === 'requestId' ? '' : value)));
  return JSON.stringify([registry.view.epoch, rules.version, ...lists]);
}

it('never answers a 5xx, names a code in every refusal, and a refusal changes nothing', async () => {
  const statuses = new Map<string, number>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method} ${path}`;
      const isEdit = method !== 'get';
      let before = isEdit ? await stateOf(running) : '';
      const holds = fc.asyncProperty(requestOf(path, operation), async ({ path: sent, headers, body }) => {
        const answer = await call(running.url, method.toUpperCase(), sent, body, headers);
        const group = `${Math.floor(answer.status / 100)}xx`;
        statuses.set(group, (statuses.get(group) ?? 0) + 1);
        expect(flawOf(answer, operation), `${name}: ${sent} ${body?.slice(0, 500)}`).toBeNull();
        if (!isEdit) return;
        const after = await stateOf(running);
        if (answer.status >= 400) expect(after, `${name} was refused and changed something`).toBe(before);
        before = after;
      });
      await fc.assert(holds, { numRuns: SLOW.get(name) ?? RUNS, seed: SEED, endOnFailure: true });
    }
  }
  // Requests that all fail at the first check would prove little.
  expect(statuses.get('2xx')).toBeGreaterThan(250);
  expect(statuses.get('4xx')).toBeGreaterThan(250);
}, 90_000);
