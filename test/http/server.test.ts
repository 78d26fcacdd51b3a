import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { subscribe } from '../../src/core/index.ts';
import { startHttpServer } from '../../src/http/index.ts';
import { problemOf, startTestService, type TestService } from './test-service.ts';

interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly received: () => string;
  readonly until: (text: string) => Promise<string>;
  readonly closed: Promise<string>;
}

async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  const waiting = new Set<() => void>();
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
    for (const check of waiting) check();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  const until = (text: string) =>
    new Promise<string>((resolve) => {
      const check = () => {
        if (!received.includes(text)) return;
        waiting.delete(check);
        resolve(received);
      };
      waiting.add(check);
      check();
    });
  return { socket, received: () => received, until, closed };
}

const post = (body: string, extra = '') =>
  `POST /v1/route HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${extra}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** A gate in front of each route: `entered` resolves when a request waits there. */
function holdRoutes({ services }: TestService): { readonly entered: Promise<void>; readonly release: () => void } {
  let release = () => {};
  let enter = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  services.beforeRoute = () => {
    enter();
    return gate;
  };
  return { entered, release };
}

describe('graceful stop', () => {
  it('lets a running request finish, tells its connection to close, and then refuses new ones', async () => {
    const service = await startTestService();
    const { entered, release } = holdRoutes(service);
    const running = await openRaw(service.server.port);
    running.socket.write(post('{"intent":"rain"}'));
    await entered;
    let isStopped = false;
    const stopped = service.server.stop(10_000).then(() => {
      isStopped = true;
    });
    await expect(fetch(`${service.base}/healthz`)).rejects.toThrow();
    expect(isStopped).toBe(false);
    release();
    const answer = await running.closed;
    await stopped;
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(answer).toContain('"decision":"route"');
    expect(service.clock.pendingTimers).toBe(0);
  });

  it('closes idle keep-alive connections at once', async () => {
    const service = await startTestService();
    const idle = await openRaw(service.server.port);
    idle.socket.write(post('{"intent":"rain"}'));
    await idle.until('"decision"');
    await service.server.stop(10_000);
    await idle.closed;
  });

  it('closes connections that never sent a request', async () => {
    const service = await startTestService();
    const silent = await openRaw(service.server.port);
    await service.server.stop(10_000);
    await silent.closed;
  });

  it('cuts what still runs when the grace is over', async () => {
    const service = await startTestService();
    const { entered } = holdRoutes(service);
    const stuck = await openRaw(service.server.port);
    stuck.socket.write(post('{"intent":"rain"}'));
    await entered;
    const stopped = service.server.stop(5_000);
    service.clock.advance(4_999);
    expect(service.clock.pendingTimers).toBe(1);
    service.clock.advance(1);
    await stopped;
    expect(await stuck.closed).toBe('');
  });

  it('answers 503 with Connection: close to a request that arrives on a connection still in use', async () => {
    const service = await startTestService();
    const { entered, release } = holdRoutes(service);
    const running = await openRaw(service.server.port);
    running.socket.write(post('{"intent":"rain"}'));
    await entered;
    const late = await openRaw(service.server.port);
    const request = post('{"intent":"late"}');
    // Half a request line: the connection is not idle, so it outlives the start of the stop.
    late.socket.write(request.slice(0, 60));
    await service.send('GET', '/healthz');
    const stopped = service.server.stop(10_000);
    late.socket.write(request.slice(60));
    const refused = await late.closed;
    release();
    await stopped;
    expect(refused).toMatch(/^HTTP\/1.1 503 /);
    expect(refused.toLowerCase()).toContain('connection: close');
    expect(refused).toContain('AR_ERR_STOPPING');
    expect(refused.toLowerCase()).toContain('retry-after: 1');
  });

  it('waits no longer than the grace for a body that was sent by half', async () => {
    const service = await startTestService();
    const half = await openRaw(service.server.port);
    const request = post('{"intent":"rain"}');
    half.socket.write(request.slice(0, -5));
    await service.send('GET', '/healthz');
    const stopped = service.server.stop(5_000);
    service.clock.advance(5_000);
    await stopped;
    expect(await half.closed).toBe('');
  });

  it('joins a second stop with the first', async () => {
    const service = await startTestService();
    await Promise.all([service.server.stop(1_000), service.server.stop(1_000)]);
  });

  it('says not ready while stopping, and stays alive', async () => {
    const { app } = await startTestService();
    app.beginStop();
    const ready = await app.fetch(new Request('http://localhost/readyz'));
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ ready: false, checks: { service: { ok: false, detail: 'stopping' } } });
    expect((await app.fetch(new Request('http://localhost/healthz'))).status).toBe(200);
    const refused = await app.fetch(new Request('http://localhost/v1/agents'));
    expect(await refused.json()).toMatchObject({ code: 'AR_ERR_STOPPING', status: 503, retryable: true });
  });
});

describe('the server', () => {
  it('cuts a connection whose headers drip in, soon after their time is over', async () => {
    const { app } = await startTestService();
    const server = await startHttpServer(app, { host: '127.0.0.1', port: 0, headersTimeoutMs: 200 });
    const dripping = await openRaw(server.port);
    dripping.socket.write('POST /v1/route HTTP/1.1\r\nHost: x\r\nX-A');
    expect(await dripping.closed).toMatch(/^HTTP\/1.1 408 [\s\S]*AR_ERR_REQUEST_TIMEOUT/);
    await server.stop(1_000);
  });

  it('answers bytes that are not HTTP with a problem and closes', async () => {
    const { server } = await startTestService();
    const raw = await openRaw(server.port);
    raw.socket.write('hello?\r\n\r\n');
    const answer = await raw.closed;
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('AR_ERR_INVALID_REQUEST');
  });

  it('answers headers over the limit with a problem', async () => {
    const { server } = await startTestService();
    const raw = await openRaw(server.port);
    raw.socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
    const answer = await raw.closed;
    expect(answer).toContain('HTTP/1.1 431 Request Header Fields Too Large');
    expect(answer).toContain('AR_ERR_HEADERS_TOO_LARGE');
    expect(answer).toContain('over 16 KiB');
  });

  it('answers an unusable Host with a problem', async () => {
    const { server } = await startTestService();
    const raw = await openRaw(server.port);
    raw.socket.write('GET / HTTP/1.1\r\nHost: a b c\r\nConnection: close\r\n\r\n');
    const answer = await raw.closed;
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('AR_ERR_INVALID_REQUEST');
  });

  it.each([
    ['a missing Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['an Expect that it does not know', 'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n'],
  ])('answers %s with a problem and closes', async (_, request) => {
    const { server } = await startTestService();
    const raw = await openRaw(server.port);
    raw.socket.write(request);
    const answer = await raw.closed;
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toMatch(/x-request-id: req_[\s\S]*"code":"AR_ERR_INVALID_REQUEST"/);
  });

  it('refuses a port that is taken with a coded error', async () => {
    const { app, server } = await startTestService();
    await expect(startHttpServer(app, { host: '127.0.0.1', port: server.port })).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_CONFIG',
    });
  });

  it('keeps serving after a client goes away in the middle of a body', async () => {
    const service = await startTestService();
    const raw = await openRaw(service.server.port);
    raw.socket.write(post('{"intent":"rain"}').slice(0, -5));
    await service.send('GET', '/healthz');
    raw.socket.destroy();
    expect((await service.send('POST', '/v1/route', { body: { intent: 'rain' } })).status).toBe(200);
    expect(service.services.calls).toEqual(['route']);
  });

  it('publishes one http.request with the pattern, never the raw path', async () => {
    const service = await startTestService();
    const seen: string[] = [];
    onTestFinished(subscribe('http.request', (one) => seen.push(`${one.method} ${one.route} ${one.status}`)));
    await service.send('GET', '/v1/agents/nobody');
    await service.send('GET', '/v1/made/up');
    await service.send('PATCH', '/v1/agents/nobody', { body: {} });
    await service.send('POST', '/v1/route', { body: { intent: 'rain' } });
    expect(seen).toEqual([
      'GET /v1/agents/{agentId} 404',
      'GET unknown 404',
      'PATCH /v1/agents/{agentId} 405',
      'POST /v1/route 200',
    ]);
  });
});

describe('the body limit', () => {
  it('refuses by Content-Length before reading', async () => {
    const service = await startTestService({ bodyLimitBytes: 100 });
    const raw = await openRaw(service.server.port);
    raw.socket.write(
      'POST /v1/route HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 101\r\n\r\n{',
    );
    expect(await raw.until('AR_ERR_BODY_TOO_LARGE')).toMatch(/^HTTP\/1.1 413 /);
  });

  it('refuses a chunked body once it passes the limit, and never calls the service', async () => {
    const service = await startTestService({ bodyLimitBytes: 100 });
    const raw = await openRaw(service.server.port);
    raw.socket.write(
      'POST /v1/route HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    raw.socket.write(`65\r\n${'x'.repeat(101)}\r\n`);
    expect(await raw.until('AR_ERR_BODY_TOO_LARGE')).toMatch(/^HTTP\/1.1 413 /);
    expect(service.services.calls).toEqual([]);
  });

  it('takes a chunked body within the limit, cut inside a character', async () => {
    const service = await startTestService({ bodyLimitBytes: 100 });
    const bytes = Buffer.from('{"intent":"明天下雨吗"}');
    const chunks = [bytes.subarray(0, 12), bytes.subarray(12)];
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' as const };
    expect((await fetch(`${service.base}/v1/route`, init)).status).toBe(200);
  });

  it('lets a rule file be as long as a set of rules may be, and not longer', async () => {
    const service = await startTestService();
    const patterns = ['开发票'.repeat(40), '报销'.repeat(50)];
    const rules = Array.from({ length: 10_000 }, (_, i) => ({ id: `r${i}`, match: 'contains', patterns, deny: true }));
    expect((await service.send('POST', '/v1/rules/import', { body: { rules } })).status).toBe(200);
    const raw = await openRaw(service.server.port);
    raw.socket.write(
      'POST /v1/rules/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 16777217\r\n\r\n{',
    );
    expect(await raw.until('AR_ERR_BODY_TOO_LARGE')).toMatch(/^HTTP\/1.1 413 /);
  });

  it('takes a body of exactly the limit', async () => {
    const body = '{"intent":"rain"}';
    const service = await startTestService({ bodyLimitBytes: body.length });
    expect((await service.send('POST', '/v1/route', { body })).status).toBe(200);
    expect(problemOf(await service.send('POST', '/v1/route', { body: `${body} ` })).code).toBe('AR_ERR_BODY_TOO_LARGE');
  });
});
