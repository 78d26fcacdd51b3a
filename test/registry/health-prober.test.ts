/** Probes over real sockets: what answers, what does not, and where nobody may be asked. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/index.ts';
import { HttpHealthProber, type Resolve } from '../../src/registry/health-prober.ts';
import { NetworkPolicy } from '../../src/registry/network-policy.ts';
import { makeBench, registrationOf } from './registry-bench.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
let handle: Handler = (_, response) => response.end();
let hits = 0;
const server = createServer((request, response) => {
  hits += 1;
  handle(request, response);
});
let url = '';
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  url = `http://127.0.0.1:${port}/health`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  hits = 0;
});

function proberFor(networks: readonly string[], more: { timeoutMs?: number; resolve?: Resolve } = {}) {
  const policy = new NetworkPolicy(networks);
  return new HttpHealthProber({ clock: systemClock, policy, timeoutMs: 200, ...more });
}
const never = new AbortController().signal;
const ask = (target = url, prober = proberFor(['127.0.0.0/8', '::1'])) => prober.probe(target, never);
const answers =
  (status: number, body = '', headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

describe('an endpoint that answers', () => {
  test.each([
    ['{"status":"healthy"}', 'healthy'],
    ['{"status":"busy"}', 'busy'],
    ['{"status":"draining","since":1}', 'draining'],
    ['{"status":"UP"}', null],
    ['{"status":', null],
    ['"busy"', null],
    ['null', null],
    ['', null],
  ])('%j is alive and says %s', async (body, status) => {
    handle = answers(200, body);
    expect(await ask()).toEqual({ isAnswered: true, status, detail: 'answered 200' });
  });

  test('with 204, or with more than anybody reads, is alive', async () => {
    handle = answers(204);
    expect(await ask()).toMatchObject({ isAnswered: true });
    handle = answers(200, 'x'.repeat(1_000_000));
    expect(await ask()).toEqual({ isAnswered: true, status: null, detail: 'answered 200' });
  });

  test('is asked with GET, and with nothing that names us but our name', async () => {
    let seen: IncomingMessage | undefined;
    handle = (request, response) => {
      seen = request;
      response.end();
    };
    await ask();
    expect([seen?.method, seen?.url, seen?.headers['user-agent']]).toEqual(['GET', '/health', 'agent-reach']);
    expect(seen?.headers.authorization).toBeUndefined();
  });
});

describe('an endpoint that does not answer', () => {
  test.each([
    [500, {}, 'answered 500'],
    [404, {}, 'answered 404'],
    [302, { location: 'http://169.254.169.254/' }, 'answered 302: redirects are not followed'],
    [307, { location: '/elsewhere' }, 'answered 307: redirects are not followed'],
  ])('%i is not alive, and is asked once', async (status, headers, detail) => {
    handle = answers(status, '', headers as Record<string, string>);
    expect(await ask()).toEqual({ isAnswered: false, detail });
    expect(hits).toBe(1);
  });

  test('in time, at all or to its end is not alive', async () => {
    handle = () => undefined;
    expect(await ask()).toEqual({ isAnswered: false, detail: 'no answer within 200 ms' });
    handle = (_, response) => response.writeHead(200, { 'content-length': '100' }).write('{');
    expect(await ask()).toEqual({ isAnswered: false, detail: 'no answer within 200 ms' });
  });

  test('but drops the connection, before or amid its answer, is not alive', async () => {
    handle = (request) => request.socket.destroy();
    expect(await ask()).toMatchObject({ isAnswered: false, detail: 'failed (ECONNRESET)' });
    handle = (request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{');
      setImmediate(() => request.socket.destroy());
    };
    expect(await ask()).toMatchObject({ isAnswered: false });
  });

  test('because nobody listens, or speaks another language, is not alive', async () => {
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('SSH-2.0\r\n', () => socket.destroy());
    });
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const other = `http://127.0.0.1:${(tcp.address() as AddressInfo).port}/`;
    expect(await ask(other)).toMatchObject({ isAnswered: false });
    await new Promise((resolve) => tcp.close(resolve));
    expect(await ask(other)).toEqual({ isAnswered: false, detail: 'connection refused' });
  });

  test('because its address is none at all is not alive', async () => {
    expect(await ask('nonsense')).toMatchObject({ isAnswered: false });
  });

  test('is left at once when the service stops', async () => {
    handle = () => undefined;
    const stop = new AbortController();
    const probed = proberFor(['127.0.0.0/8'], { timeoutMs: 60_000 }).probe(url, stop.signal);
    stop.abort();
    expect(await probed).toMatchObject({ isAnswered: false });
  });
});

describe('an address that may not be asked', () => {
  const refused = { isAnswered: false, detail: expect.stringContaining('registry.probeNetworks') };
  const resolving =
    (...found: string[][]): Resolve =>
    async () =>
      (found.length > 1 ? (found.shift() ?? []) : (found[0] ?? [])).map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      }));

  test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '169.254.169.254'])('%s', async (host) => {
    expect(await ask(`http://${host}:${port}/`, proberFor([]))).toEqual(refused);
    expect(await proberFor([]).review(`http://${host}:${port}/`)).toMatchObject({ refusal: expect.any(String) });
    expect(hits).toBe(0);
  });

  test('is refused behind a name, one bad address among good ones included', async () => {
    handle = answers(200);
    const target = `http://agent.example:${port}/`;
    for (const found of [['127.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['::ffff:7f00:1']]) {
      const prober = proberFor([], { resolve: resolving(found) });
      expect(await prober.review(target)).toMatchObject({ refusal: expect.any(String) });
      expect(await ask(target, prober)).toEqual(refused);
    }
    expect(hits).toBe(0);
    const allowed = proberFor(['127.0.0.1'], { resolve: resolving(['127.0.0.1']) });
    expect(await ask(target, allowed)).toMatchObject({ isAnswered: true });
  });

  test('is refused where a name led elsewhere when the agent registered', async () => {
    handle = answers(200);
    const prober = proberFor([], { resolve: resolving(['1.1.1.1'], ['127.0.0.1']) });
    const target = `http://agent.example:${port}/`;
    expect(await prober.review(target)).toEqual({});
    expect(await ask(target, prober)).toEqual(refused);
    expect(hits).toBe(0);
  });

  test('is warned of, not refused, where a name has no address yet', async () => {
    const prober = proberFor([], { resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await prober.review('http://agent.example/')).toMatchObject({
      warning: { code: 'health_endpoint_unresolved' },
    });
    const slow = proberFor([], { timeoutMs: 10, resolve: () => new Promise(() => {}) });
    expect(await slow.review('http://agent.example/')).toMatchObject({ warning: expect.anything() });
    expect(await ask('http://agent.example/', slow)).toMatchObject({ isAnswered: false });
  });

  test('is refused at the registration, with its path', async () => {
    const bench = makeBench();
    bench.prober.review = async () => ({ refusal: 'not allowed' }) as never;
    const transport = { type: 'http', endpoint: 'http://a.example', healthEndpoint: 'http://10.0.0.1/' };
    await expect(bench.registry.register(registrationOf('a', { transport }))).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_ENDPOINT',
      issues: [{ path: 'transport.healthEndpoint', message: 'not allowed' }],
    });
    expect(bench.registry.view.agent('a')).toBeUndefined();
  });
});
