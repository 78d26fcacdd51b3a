import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ApiKey, createHttpApp, type HttpApp } from '../../src/http/index.ts';
import { createStandIn } from './stand-in-services.ts';

const keyOf = (id: string, ...scopes: string[]): ApiKey => ({
  id,
  sha256: createHash('sha256').update(`secret-${id}`).digest('hex'),
  scopes,
});
const KEYS = [
  keyOf('router', 'route'),
  keyOf('agent', 'register'),
  keyOf('operator', 'operate'),
  keyOf('root', '*'),
  keyOf('finance', 'route', 'finance'),
];

const secured = (host = '0.0.0.0', apiKeys = KEYS): HttpApp => createHttpApp(createStandIn(), { host, apiKeys });

async function statusOf(
  app: HttpApp,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; code: unknown; headers: Headers }> {
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
  const sent = { 'content-type': 'application/json', ...headers };
  const response = await app.fetch(new Request(`http://localhost${path}`, { method, headers: sent, ...body }));
  const text = await response.text();
  const code: unknown = text.startsWith('{') ? JSON.parse(text).code : undefined;
  return { status: response.status, code, headers: response.headers };
}

const bearer = (id: string, lease?: string): Record<string, string> => ({
  authorization: `Bearer secret-${id}`,
  ...(lease === undefined ? {} : { 'agent-lease': lease }),
});

/** Who may, of router, agent, operator, root. */
const MATRIX: [string, string, string[], lease?: string][] = [
  ['POST', '/v1/route', ['router', 'root', 'finance']],
  ['POST', '/v1/route/batch', ['router', 'root', 'finance']],
  ['POST', '/v1/agents', ['agent', 'root']],
  ['PUT', '/v1/agents/a/heartbeat', ['agent', 'root']],
  ['DELETE', '/v1/agents/a', ['operator', 'root']],
  ['DELETE', '/v1/agents/a', ['agent', 'root'], 'lease_1'],
  ['PATCH', '/v1/capabilities/weather.query.city', ['operator', 'root']],
  ['POST', '/v1/rules', ['operator', 'root']],
  ['DELETE', '/v1/rules/a', ['operator', 'root']],
  ['POST', '/v1/index/rebuild', ['operator', 'root']],
  ['POST', '/v1/index/rollback', ['operator', 'root']],
  ['POST', '/v1/index/verify', ['operator', 'root']],
  ['POST', '/v1/index/golden', ['operator', 'root']],
  ['DELETE', '/v1/index/golden/g', ['operator', 'root']],
  ['GET', '/v1/index/golden', ['router', 'agent', 'operator', 'root', 'finance']],
  ['GET', '/v1/agents', ['router', 'agent', 'operator', 'root', 'finance']],
  ['GET', '/v1/agents/a', ['router', 'agent', 'operator', 'root', 'finance']],
  ['GET', '/v1/capabilities', ['router', 'agent', 'operator', 'root', 'finance']],
  ['GET', '/v1/rules', ['router', 'agent', 'operator', 'root', 'finance']],
  ['GET', '/v1/rules/history', ['router', 'agent', 'operator', 'root', 'finance']],
  ['POST', '/v1/rules/dry-run', ['router', 'agent', 'operator', 'root', 'finance']],
  ['GET', '/v1/index/versions', ['router', 'agent', 'operator', 'root', 'finance']],
  ['GET', '/metrics', ['router', 'agent', 'operator', 'root', 'finance']],
];

describe('API keys', () => {
  it.each(MATRIX)('lets on %s %s only %j in', async (method, path, allowed, lease) => {
    const app = secured();
    for (const { id } of KEYS) {
      const { status, code } = await statusOf(app, method, path, bearer(id, lease));
      if (allowed.includes(id)) expect([401, 403], `${id} may`).not.toContain(status);
      else expect({ id, status, code }).toEqual({ id, status: 403, code: 'AR_ERR_FORBIDDEN' });
    }
    const anonymous = await statusOf(app, method, path, lease === undefined ? {} : { 'agent-lease': lease });
    expect(anonymous).toMatchObject({ status: 401, code: 'AR_ERR_UNAUTHENTICATED' });
    expect(anonymous.headers.get('www-authenticate')).toMatch(/^Bearer /);
  });

  it.each(['/healthz', '/readyz', '/openapi.json', '/docs', '/'])('asks no key for %s', async (path) => {
    expect((await statusOf(secured(), 'GET', path, {})).status).toBe(200);
  });

  it.each([
    ['X-API-Key', { 'x-api-key': 'secret-root' }, 200],
    ['a lower-case scheme', { authorization: 'bearer secret-root' }, 200],
    ['a wrong key', { authorization: 'Bearer secret-nobody' }, 401],
    ['a key with something behind it', { authorization: 'Bearer secret-root x' }, 401],
    ['another scheme', { authorization: 'Basic secret-root' }, 401],
    ['an empty key', { 'x-api-key': '' }, 401],
    ['the hash instead of the key', { 'x-api-key': KEYS[3]?.sha256 ?? '' }, 401],
    ['a key of 10 kB', { 'x-api-key': 'k'.repeat(10_000) }, 401],
  ])('answers %s by what it is', async (_what, headers, status) => {
    expect((await statusOf(secured(), 'GET', '/v1/agents', headers as Record<string, string>)).status).toBe(status);
  });

  it('checks the key before it reads the body', async () => {
    const { code } = await statusOf(secured(), 'POST', '/v1/route', { 'content-type': 'text/plain' });
    expect(code).toBe('AR_ERR_UNAUTHENTICATED');
  });

  it('hands the scopes of the key, free ones too, to the router', async () => {
    const services = createStandIn();
    const app = createHttpApp(services, { host: '0.0.0.0', apiKeys: KEYS });
    const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1', ...bearer('finance') };
    await app.fetch(new Request('http://localhost/v1/route', { method: 'POST', headers, body: '{"intent":"x"}' }));
    expect(services.callers).toEqual([{ requestId: 'r-1', keyId: 'finance', scopes: new Set(['route', 'finance']) }]);
  });

  it('refuses a key that is no SHA-256', () => {
    expect(() => secured('127.0.0.1', [{ id: 'x', sha256: 'abc', scopes: ['*'] }])).toThrow('64 hex digits');
  });
});

describe('without keys', () => {
  it.each(['127.0.0.1', '::1', 'localhost'])('makes everybody the operator on %s', async (host) => {
    expect((await statusOf(secured(host, []), 'POST', '/v1/index/rebuild', {})).status).toBe(200);
  });

  it.each(['0.0.0.0', '::', '192.168.1.7', 'example.org'])('refuses to be built for %s', (host) => {
    expect(() => secured(host, [])).toThrow(expect.objectContaining({ code: 'AR_ERR_INVALID_CONFIG' }));
  });

  it.each([
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page whose origin is hidden', { origin: 'null' }, 403],
    ['a rebound name', { host: 'evil.example:7420' }, 403],
    ['a name that only begins like ours', { host: 'localhost.evil.example' }, 403],
    ['a page of this machine', { origin: 'http://localhost:3000', host: '127.0.0.1:7420' }, 200],
    ['the IPv6 loopback', { host: '[::1]:7420' }, 200],
  ])('answers %s by where it comes from', async (_what, headers, status) => {
    const app = secured('127.0.0.1', []);
    expect((await statusOf(app, 'GET', '/v1/agents', headers as Record<string, string>)).status).toBe(status);
  });
});
