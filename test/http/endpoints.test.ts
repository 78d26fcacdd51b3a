import { describe, expect, it, onTestFinished } from 'vitest';
import { registrationReplySchema, routeReplySchema } from '../../src/contract/index.ts';
import { AgentReachError, subscribe } from '../../src/core/index.ts';
import { problemOf, startTestService } from './test-service.ts';

const REGISTRATION = {
  agentId: 'weather-1',
  capabilities: ['weather.query.city'],
  transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
};

describe('agents', () => {
  it('answers 201 to a new agent and 200 to a known one, with a higher incarnation', async () => {
    const { send } = await startTestService();
    const first = await send('POST', '/v1/agents', { body: REGISTRATION });
    expect(first.status).toBe(201);
    expect(registrationReplySchema.parse(first.json)).toMatchObject({ incarnation: 1, warnings: [] });
    const second = await send('POST', '/v1/agents', { body: REGISTRATION });
    expect(second.status).toBe(200);
    expect(second.json).toMatchObject({ incarnation: 2 });
  });

  it('reads older spellings and names them in a warning', async () => {
    const { send } = await startTestService();
    const body = {
      agent_id: 'old-1',
      heartbeat_interval: 15,
      capabilities: [{ name: 'a.b.c', input_schema: true }],
      endpoints: { http: 'http://127.0.0.1:9001' },
      ttl: 60,
    };
    const { status, json } = await send('POST', '/v1/agents', { body });
    expect(status).toBe(201);
    const { heartbeatIntervalMs, warnings } = registrationReplySchema.parse(json);
    expect(heartbeatIntervalMs).toBe(15_000);
    expect(warnings.map((one) => one.code)).toEqual(['older_field_names', 'older_field_names']);
    expect(warnings[0]?.message).toMatch(
      /"agent_id", "heartbeat_interval", "capabilities\[\]\.input_schema"|"agent_id"/,
    );
    expect(warnings[0]?.message).toContain('"agent_id"');
    expect(warnings[0]?.message).toContain('"endpoints"');
    expect(warnings[0]?.message).toContain('"input_schema"');
    expect(warnings[1]?.message).toContain('ttl read as expiresAt');
  });

  it('does not warn of snake case inside free-form values', async () => {
    const { send } = await startTestService();
    const body = { ...REGISTRATION, metadata: { agent_id: 'x', inner: { lease_id: 'y' } }, tags: { agent_id: 'z' } };
    expect((await send('POST', '/v1/agents', { body })).json).toMatchObject({ warnings: [] });
  });

  it('renews a lease, refuses an older one, and reads the older spelling', async () => {
    const { send } = await startTestService();
    await send('POST', '/v1/agents', { body: REGISTRATION });
    const beat = await send('PUT', '/v1/agents/weather-1/heartbeat', {
      body: { lease_id: 'lease_1', load: { active: 1 } },
    });
    expect(beat.status).toBe(200);
    expect(beat.json).toMatchObject({ agentId: 'weather-1', state: 'online' });
    const stale = await send('PUT', '/v1/agents/weather-1/heartbeat', { body: { leaseId: 'lease_0' } });
    expect(problemOf(stale)).toMatchObject({ code: 'AR_ERR_STALE_LEASE', status: 409 });
  });

  it('lets an agent leave with its lease and not with another', async () => {
    const { send } = await startTestService();
    await send('POST', '/v1/agents', { body: REGISTRATION });
    const stale = await send('DELETE', '/v1/agents/weather-1', { headers: { 'agent-lease': 'lease_0' } });
    expect(stale.status).toBe(409);
    const gone = await send('DELETE', '/v1/agents/weather-1', { headers: { 'agent-lease': 'lease_1' } });
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await send('GET', '/v1/agents/weather-1')).status).toBe(404);
  });

  it('reads ids with a colon, percent-encoded or not', async () => {
    const { send } = await startTestService();
    await send('POST', '/v1/agents', { body: { ...REGISTRATION, agentId: 'host:1' } });
    expect((await send('GET', '/v1/agents/host:1')).status).toBe(200);
    expect((await send('GET', '/v1/agents/host%3A1')).status).toBe(200);
    expect((await send('GET', '/v1/agents?limit=5&namespace=default')).json).toMatchObject({ nextCursor: null });
  });
});

describe('routes and rules', () => {
  it('answers a decision with the id of the request', async () => {
    const { send } = await startTestService();
    const { status, json, headers } = await send('POST', '/v1/route', {
      body: { intent: '明天杭州会下雨吗' },
      headers: { 'x-request-id': 'trace.1_a-B' },
    });
    expect(status).toBe(200);
    expect(routeReplySchema.parse(json).requestId).toBe('trace.1_a-B');
    expect(headers.get('x-request-id')).toBe('trace.1_a-B');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each(['a b', 'x'.repeat(65), '<script>', 'naïve', ''])('makes its own id instead of %j', async (id) => {
    const { send } = await startTestService();
    const { headers } = await send('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(/^req_[a-z0-9]+$/);
  });

  it('answers a batch in one envelope', async () => {
    const { send } = await startTestService();
    const { json } = await send('POST', '/v1/route/batch', { body: { requests: [{ intent: 'a' }, { intent: 'b' }] } });
    expect(json).toMatchObject({ requestId: expect.any(String), results: [expect.anything(), expect.anything()] });
  });

  it('guards an edit of the rules with If-Match', async () => {
    const { send } = await startTestService();
    const rule = { id: 'invoice', match: 'contains', patterns: ['开发票'], capability: 'finance.issue.invoice' };
    const first = await send('POST', '/v1/rules', { body: rule, headers: { 'if-match': '"0"' } });
    expect([first.status, first.headers.get('etag')]).toEqual([201, '"1"']);
    const stale = await send('POST', '/v1/rules', { body: rule, headers: { 'if-match': '"0"' } });
    expect(problemOf(stale).code).toBe('AR_ERR_RULE_CONFLICT');
    expect((await send('POST', '/v1/rules', { body: rule, headers: { 'if-match': 'W/"1"' } })).status).toBe(200);
    expect((await send('GET', '/v1/rules')).json).toMatchObject({ rulesVersion: 2, items: [{ id: 'invoice' }] });
    expect((await send('GET', '/v1/rules/invoice')).json).toMatchObject({ id: 'invoice', priority: 0 });
    expect((await send('DELETE', '/v1/rules/invoice', { headers: { 'if-match': '1' } })).status).toBe(409);
    expect((await send('DELETE', '/v1/rules/invoice')).status).toBe(204);
    const history = await send('GET', '/v1/rules/history?limit=2');
    expect(history.json).toMatchObject({
      rulesVersion: 3,
      items: [
        { version: 3, change: 'delete invoice', editedBy: 'local', editedAt: '1970-01-01T00:00:00.000Z', rules: 0 },
        { version: 2, rules: 1 },
      ],
    });
  });
});

describe('an index rebuild', () => {
  it('answers JSON without a body', async () => {
    const { send } = await startTestService();
    const { status, json } = await send('POST', '/v1/index/rebuild');
    expect(status).toBe(200);
    expect(json).toMatchObject({ version: 'v000002', report: { by: 'local', why: 'asked over the API' } });
  });

  it('streams progress, then done, to a reader of events', async () => {
    const { send } = await startTestService();
    const headers = { accept: 'text/event-stream' };
    const { text, headers: sent } = await send('POST', '/v1/index/rebuild', { body: { reason: 'import' }, headers });
    expect(sent.get('content-type')).toMatch(/^text\/event-stream/);
    const events = text.split('\n\n').filter((one) => one !== '');
    expect(events.map((one) => one.split('\n')[0])).toEqual(['event: progress', 'event: progress', 'event: done']);
    expect(JSON.parse(events[2]?.split('\ndata: ')[1] ?? '')).toMatchObject({ report: { why: 'import' } });
  });

  it('sends the first progress before the build is over', async () => {
    const { base, services } = await startTestService();
    let release = () => {};
    services.beforeRebuild = () =>
      new Promise<void>((resolve) => {
        release = resolve;
      });
    const response = await fetch(`${base}/v1/index/rebuild`, {
      method: 'POST',
      headers: { accept: 'text/event-stream' },
    });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('"done":1');
    release();
    let rest = '';
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      rest += Buffer.from(part.value).toString();
    }
    expect(rest).toContain('event: done');
  });

  it('ends with the problem when the build fails', async () => {
    const { send, services } = await startTestService();
    services.beforeRebuild = () => {
      throw new AgentReachError('AR_ERR_INDEX_SELF_CHECK', { detail: 'recall 0.91' });
    };
    const { text } = await send('POST', '/v1/index/rebuild', { headers: { accept: 'text/event-stream' } });
    const data = JSON.parse(text.split('event: error\ndata: ')[1] ?? '');
    expect(data).toMatchObject({ code: 'AR_ERR_INDEX_SELF_CHECK', detail: 'recall 0.91', retryable: false });
    expect((await send('POST', '/v1/index/rebuild')).status).toBe(409);
  });

  it('goes on serving when the reader leaves in the middle', async () => {
    const { base, services, send } = await startTestService();
    let release = () => {};
    services.beforeRebuild = () =>
      new Promise<void>((resolve) => {
        release = resolve;
      });
    const leaving = new AbortController();
    const init = { method: 'POST', headers: { accept: 'text/event-stream' }, signal: leaving.signal };
    const response = await fetch(`${base}/v1/index/rebuild`, init);
    await response.body?.getReader().read();
    leaving.abort();
    await send('GET', '/healthz');
    release();
    expect((await send('GET', '/healthz')).status).toBe(200);
  });
});

describe('failures', () => {
  it('says nothing of an unknown error and logs it with the id of the request', async () => {
    const { send, services } = await startTestService();
    services.beforeRoute = () => {
      throw new TypeError('password=hunter2');
    };
    const lines: unknown[] = [];
    onTestFinished(subscribe('log', (line) => lines.push(line)));
    const answer = await send('POST', '/v1/route', { body: { intent: 'rain' }, headers: { 'x-request-id': 'r1' } });
    expect(problemOf(answer)).toEqual({
      type: 'urn:agent-reach:error:AR_ERR_INTERNAL',
      title: 'Something failed inside the service.',
      status: 500,
      detail: 'Something failed inside the service.',
      code: 'AR_ERR_INTERNAL',
      requestId: 'r1',
      retryable: false,
      issues: [],
    });
    expect(lines).toMatchObject([{ level: 'error', fields: { requestId: 'r1', error: 'password=hunter2' } }]);
  });

  it.each([
    [undefined, '1'],
    [2_400, '3'],
    [10, '1'],
  ])('gives Retry-After in whole seconds for %s ms', async (retryAfterMs, seconds) => {
    const { send, services } = await startTestService();
    services.beforeRoute = () => {
      throw new AgentReachError('AR_ERR_OVERLOADED', retryAfterMs === undefined ? {} : { retryAfterMs });
    };
    const { status, headers } = await send('POST', '/v1/route', { body: { intent: 'rain' } });
    expect([status, headers.get('retry-after')]).toEqual([503, seconds]);
  });

  it('clips a long detail and repairs a cut character', async () => {
    const { send, services } = await startTestService();
    services.beforeRoute = () => {
      throw new AgentReachError('AR_ERR_INVALID_CAPABILITY', { detail: '🤖'.repeat(5_000) });
    };
    const { detail } = problemOf(await send('POST', '/v1/route', { body: { intent: 'rain' } }));
    expect(detail.length).toBeLessThanOrEqual(500);
    expect(detail.isWellFormed()).toBe(true);
  });

  it.each([
    ['PATCH', '/v1/route', 'POST'],
    ['POST', '/v1/agents/a', 'DELETE, GET, HEAD'],
    ['PUT', '/v1/rules', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/route', 'POST'],
  ])('answers %s %s with what the address takes', async (method, path, allow) => {
    const { send } = await startTestService();
    const answer = await send(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(problemOf(answer).code).toBe('AR_ERR_METHOD_NOT_ALLOWED');
  });
});

describe('probes', () => {
  it('counts degraded as ready and says so', async () => {
    const { send, services } = await startTestService();
    const ready = await send('GET', '/readyz');
    expect([ready.status, ready.json]).toMatchObject([200, { ready: true, degraded: true }]);
    services.ready = false;
    expect((await send('GET', '/readyz')).status).toBe(503);
  });

  it('answers HEAD like GET without the body', async () => {
    const { send } = await startTestService();
    const { status, text } = await send('HEAD', '/healthz');
    expect([status, text]).toEqual([200, '']);
  });

  it('serves metrics as text', async () => {
    const { send } = await startTestService();
    const { text, headers } = await send('GET', '/metrics');
    expect([text, headers.get('content-type')]).toEqual(['up 1\n', 'text/plain; version=0.0.4; charset=utf-8']);
  });
});
