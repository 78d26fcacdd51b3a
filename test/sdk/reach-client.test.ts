import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentReachError, ERRORS, type ErrorCode, ManualClock } from '../../src/core/index.ts';
import { ReachClient } from '../../src/sdk/index.ts';
import { type Answer, eventStream, json, problem, type StandIn, startStandIn } from './stand-in-service.ts';

let running: StandIn | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function clientOf(answers: Readonly<Record<string, Answer>>, options: { apiKey?: string } = {}) {
  running = await startStandIn(answers);
  return { client: new ReachClient({ baseUrl: running.url, ...options }), seen: running.seen };
}

async function failureOf(run: Promise<unknown>): Promise<AgentReachError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof AgentReachError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('calls', () => {
  it('sends each call to its own address', async () => {
    const { client, seen } = await clientOf({}, { apiKey: 'k-1' });
    const calls = [
      client.agents.register({ agentId: 'a', capabilities: ['a.b.c'], transport: { type: 'local' } }),
      client.agents.heartbeat('a:1', { leaseId: 'l' }),
      client.agents.withdraw('a', 'lease_1'),
      client.agents.withdraw('a'),
      client.agents.get('a/b'),
      client.agents.list({ tag: 'k:v', limit: 2 }),
      client.capabilities.list({ domain: 'weather' }),
      client.capabilities.get('a.b.c', 'team'),
      client.capabilities.update('a.b.c', { status: 'active' }),
      client.rules.list(),
      client.rules.get('r'),
      client.rules.put({ id: 'r', match: 'exact', patterns: ['x'], deny: true }, { expectedVersion: 3 }),
      client.rules.remove('r'),
      client.rules.history(5),
      client.rules.dryRun('开发票'),
      client.rules.rollback(2, { expectedVersion: 3 }),
      client.rules.import({ rules: [] }),
      client.rules.lint(),
      client.audit.list({ outcome: 'reached' }, 'c'),
      client.index.versions(),
      client.index.rebuild({ reason: 'test' }),
      client.index.rollback('v000001'),
      client.index.verify(),
      client.index.diff('v000001', 'v000002'),
      client.index.golden(),
      client.index.putGolden([{ text: 'x', capability: null }]),
      client.index.removeGolden('g'),
      client.route({ intent: '明天杭州会下雨吗' }),
      client.routeBatch([{ intent: 'x' }]),
      client.ready(),
      client.health(),
    ];
    const codes = (await Promise.all(calls.map(failureOf))).map((error) => error.code);
    expect(new Set(codes)).toEqual(new Set(['AR_ERR_NOT_FOUND']));
    expect(seen.map(({ method, target }) => `${method} ${target}`).sort()).toEqual(
      [
        'POST /v1/agents',
        'PUT /v1/agents/a%3A1/heartbeat',
        'DELETE /v1/agents/a',
        'DELETE /v1/agents/a',
        'GET /v1/agents/a%2Fb',
        'GET /v1/agents?tag=k%3Av&limit=2',
        'GET /v1/capabilities?domain=weather',
        'GET /v1/capabilities/a.b.c?namespace=team',
        'PATCH /v1/capabilities/a.b.c',
        'GET /v1/rules',
        'GET /v1/rules/r',
        'POST /v1/rules',
        'DELETE /v1/rules/r',
        'GET /v1/rules/history?limit=5',
        'POST /v1/rules/dry-run',
        'POST /v1/rules/rollback',
        'POST /v1/rules/import',
        'GET /v1/rules/lint',
        'GET /v1/audit?outcome=reached&cursor=c',
        'GET /v1/index/versions',
        'POST /v1/index/rebuild',
        'POST /v1/index/rollback',
        'POST /v1/index/verify',
        'GET /v1/index/diff?from=v000001&to=v000002',
        'GET /v1/index/golden',
        'POST /v1/index/golden',
        'DELETE /v1/index/golden/g',
        'POST /v1/route',
        'POST /v1/route/batch',
        'GET /readyz',
        'GET /healthz',
      ].sort(),
    );
    expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer k-1']));
    expect(seen.map(({ headers }) => headers['agent-lease']).filter((lease) => lease !== undefined)).toEqual([
      'lease_1',
    ]);
    const routed = seen.find(({ target }) => target === '/v1/route');
    expect(routed?.body).toEqual({ intent: '明天杭州会下雨吗' });
  });

  it('answers nothing for a reply without a body', async () => {
    const { client } = await clientOf({ 'DELETE /v1/agents/a': () => new Response(null, { status: 204 }) });
    expect(await client.agents.withdraw('a')).toBeUndefined();
  });

  it('walks every page of a list', async () => {
    const { client } = await clientOf({
      'GET /v1/agents': ({ target }) =>
        target.includes('cursor=2')
          ? json({ items: [{ agentId: 'c' }], nextCursor: null, registryEpoch: 1 })
          : json({ items: [{ agentId: 'a' }, { agentId: 'b' }], nextCursor: '2', registryEpoch: 1 }),
    });
    const ids: string[] = [];
    for await (const agent of client.agents.all({ zone: 'hz-1' })) ids.push(agent.agentId);
    expect(ids).toEqual(['a', 'b', 'c']);
  });

  it('answers readiness also while the service is not ready', async () => {
    const readiness = { ready: false, degraded: true, checks: {}, indexVersion: 'v000000', registryEpoch: 0 };
    const { client } = await clientOf({ 'GET /readyz': () => json(readiness, 503) });
    expect(await client.ready()).toEqual(readiness);
  });

  it('throws the problem where readiness is refused', async () => {
    const { client } = await clientOf({ 'GET /readyz': () => problem('AR_ERR_STOPPING', 503, 'stopping') });
    expect((await failureOf(client.ready())).code).toBe('AR_ERR_STOPPING');
  });

  it('ends a base URL with a path and slashes as one would write it', async () => {
    expect(new ReachClient({ baseUrl: 'http://h:1/reach//' }).baseUrl).toBe('http://h:1/reach');
  });
});

describe('rebuild', () => {
  it('reports progress and answers the version', async () => {
    const { client, seen } = await clientOf({
      'POST /v1/index/rebuild': () =>
        eventStream([
          'event: progress\ndata: {"phase":"texts","do',
          'ne":1,"total":2}\n\n: still here\n\nevent: done\ndata: {"version":"v000002","report":{}}\n\n',
        ]),
    });
    const phases: string[] = [];
    const reply = await client.index.rebuild({ onProgress: (progress) => phases.push(progress.phase) });
    expect([phases, reply.version]).toEqual([['texts'], 'v000002']);
    expect(seen[0]?.headers.accept).toBe('text/event-stream');
  });

  it('throws the error that the stream reports', async () => {
    const body = '{"code":"AR_ERR_INDEX_SELF_CHECK","detail":"recall 0.9","issues":[]}';
    const { client } = await clientOf({
      'POST /v1/index/rebuild': () => eventStream([`event: error\ndata: ${body}\n\n`]),
    });
    const error = await failureOf(client.index.rebuild({ onProgress: () => {} }));
    expect([error.code, error.message]).toEqual(['AR_ERR_INDEX_SELF_CHECK', 'recall 0.9']);
  });

  it('says that a broken event came from no service, and an abort from the caller', async () => {
    const { client } = await clientOf({
      'POST /v1/index/rebuild': () => eventStream(['event: progress\ndata: {"phase":\n\n']),
    });
    const broken = await failureOf(client.index.rebuild({ onProgress: () => {} }));
    expect(broken).toMatchObject({ code: 'AR_ERR_FOREIGN_REPLY', cause: expect.any(SyntaxError) });
    const ended = await failureOf(client.index.rebuild({ signal: AbortSignal.abort() }));
    expect(ended).toMatchObject({ code: 'AR_ERR_ABORTED', cause: expect.anything() });
  });

  it('ends with what the callback throws, as it is', async () => {
    const { client } = await clientOf({
      'POST /v1/index/rebuild': () => eventStream(['event: progress\ndata: {"phase":"texts"}\n\n']),
    });
    const thrown = new SyntaxError('the bar is broken');
    const onProgress = (): void => {
      throw thrown;
    };
    await expect(client.index.rebuild({ onProgress })).rejects.toBe(thrown);
  });

  it('throws when the stream ends early, or when a problem comes instead', async () => {
    const { client } = await clientOf({ 'POST /v1/index/rebuild': () => eventStream(['event: progress\n']) });
    expect((await failureOf(client.index.rebuild({ onProgress: () => {} }))).code).toBe('AR_ERR_UNREACHABLE');
    await running?.stop();
    const second = await clientOf({ 'POST /v1/index/rebuild': () => problem('AR_ERR_FORBIDDEN', 403, 'no') });
    expect((await failureOf(second.client.index.rebuild({ onProgress: () => {} }))).code).toBe('AR_ERR_FORBIDDEN');
  });
});

describe('failures', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])('brings %s back with its code, issues and suggestions', async (code) => {
    const more = { issues: [{ path: 'intent', message: 'is blank' }], suggestions: ['weather.query.city'] };
    const { client } = await clientOf({
      'POST /v1/route': () => problem(code, ERRORS[code].status, 'the detail', more, { 'retry-after': '2' }),
    });
    const error = await failureOf(client.route({ intent: 'x' }));
    expect(error).toMatchObject({ code, message: 'the detail', ...more, retryAfterMs: 2_000 });
    expect(error.cause).toMatchObject({ requestId: 'req_1' });
  });

  it('keeps the fault and the name of a code that it does not know', async () => {
    const { client } = await clientOf({ 'POST /v1/route': () => problem('AR_ERR_NEWER', 418, 'tea') });
    const error = await failureOf(client.route({ intent: 'x' }));
    expect([error.code, error.message]).toEqual(['AR_ERR_INVALID_REQUEST', 'AR_ERR_NEWER: tea']);
  });

  it.each<[string, () => Response]>([
    ['a page of a proxy', () => new Response('<html>', { status: 502 })],
    ['a page with status 200', () => new Response('<html>')],
    ['a JSON text with status 200', () => json('hello')],
    ['a JSON null with status 200', () => json(null)],
    ['a JSON list with status 200', () => json([])],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } })],
    ['a JSON error of another service', () => json({ code: 12, message: 'x' }, 400)],
  ])('calls %s foreign', async (_, answer) => {
    const { client } = await clientOf({ 'GET /healthz': answer });
    expect((await failureOf(client.health())).code).toBe('AR_ERR_FOREIGN_REPLY');
  });

  it('says how to start the service when nothing listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    await new Promise((resolve) => server.close(resolve));
    const error = await failureOf(new ReachClient({ baseUrl: `http://127.0.0.1:${port}` }).health());
    expect(error.code).toBe('AR_ERR_UNREACHABLE');
    expect(error.message).toMatch(/ECONNREFUSED.*agent-reach serve/);
  });

  it('gives up at the deadline of its own clock', async () => {
    const clock = new ManualClock();
    running = await startStandIn({
      'GET /healthz': () => {
        clock.advance(49);
        clock.advance(1);
        return new Promise<Response>(() => {});
      },
    });
    const client = new ReachClient({ baseUrl: running.url, timeoutMs: 50, clock });
    const error = await failureOf(client.health());
    expect([error.code, error.retryAfterMs]).toEqual(['AR_ERR_DEADLINE', undefined]);
    expect(error.message).toContain('50 ms');
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['', '.', '..', '\ud800'])('refuses the name %j before anything is sent', async (name) => {
    const { client, seen } = await clientOf({});
    expect((await failureOf(client.agents.withdraw(name))).code).toBe('AR_ERR_INVALID_REQUEST');
    expect(seen).toEqual([]);
  });

  it('refuses a body that goes round in a circle', async () => {
    const { client } = await clientOf({});
    const metadata: Record<string, unknown> = {};
    metadata.self = metadata;
    const registration = { agentId: 'a', capabilities: ['a.b.c'], transport: { type: 'local' as const }, metadata };
    expect((await failureOf(client.agents.register(registration))).code).toBe('AR_ERR_INVALID_REQUEST');
  });

  it.each([
    [{ baseUrl: 'localhost' }],
    [{ baseUrl: 'ftp://h' }],
    [{ baseUrl: 'http://u:p@h' }],
    [{ baseUrl: 'http://h?x=1' }],
    [{ apiKey: 'a\nb' }],
    [{ apiKey: '' }],
    [{ timeoutMs: Number.NaN }],
    [{ timeoutMs: -1 }],
  ])('refuses the options %j', (options) => {
    expect(() => new ReachClient(options)).toThrow(AgentReachError);
  });
});
