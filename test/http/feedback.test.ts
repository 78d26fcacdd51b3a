import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { routeReplySchema, routeRequestSchema } from '../../src/contract/index.ts';
import { ManualClock } from '../../src/core/index.ts';
import { ROUTE_REPLY } from '../../src/http/examples.ts';
import { RECENT_INTENTS, RECENT_MS, RecentIntents } from '../../src/http/recent-intents.ts';
import { problemOf, startTestService } from './test-service.ts';

const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex');
const KEYS = [
  { id: 'web', sha256: sha256('web-key'), scopes: ['route'] },
  { id: 'app', sha256: sha256('app-key'), scopes: ['route'] },
  { id: 'ops', sha256: sha256('ops-key'), scopes: ['operate'] },
];
const as = (id: string) => ({ authorization: `Bearer ${id}-key` });

describe('feedback over HTTP', () => {
  it('takes the words of a remembered request of the same key, and of no other key', async () => {
    const { send } = await startTestService({ apiKeys: KEYS });
    const body = { intent: '外面要带伞吗', namespace: 'shop' };
    const routed = await send('POST', '/v1/route', { body, headers: as('web') });
    const { requestId } = routed.json as { requestId: string };
    const report = { requestId, correct: 'weather.query.city' };
    const foreign = await send('POST', '/v1/feedback', { body: report, headers: as('app') });
    expect(foreign.status).toBe(400);
    expect(foreign.text).not.toContain('带伞');
    const filed = await send('POST', '/v1/feedback', { body: report, headers: as('web') });
    expect(filed.status).toBe(201);
    expect(filed.json).toMatchObject({ ...body, requestId, answered: ROUTE_REPLY.capability, createdBy: 'web' });
  });

  it('remembers each intent of a batch under its own id', async () => {
    const { send, services } = await startTestService();
    services.routing.routeBatch = async (requests, caller) =>
      requests.map((_, i) => ({ ...structuredClone(ROUTE_REPLY), requestId: `${caller.requestId}.${i}` }) as never);
    const body = { requests: [{ intent: 'first' }, { intent: 'second' }] };
    const { requestId } = (await send('POST', '/v1/route/batch', { body })).json as { requestId: string };
    const filed = await send('POST', '/v1/feedback', { body: { requestId: `${requestId}.1`, correct: null } });
    expect(filed.json).toMatchObject({ intent: 'second', correct: null });
  });

  it('lets operators alone see and decide', async () => {
    const { send } = await startTestService({ apiKeys: KEYS });
    await send('POST', '/v1/feedback', { body: { intent: 'rain', correct: null }, headers: as('web') });
    for (const [method, path] of [
      ['GET', '/v1/feedback'],
      ['POST', '/v1/feedback/fb_1/approve'],
      ['POST', '/v1/feedback/fb_1/reject'],
    ] as const) {
      expect((await send(method, path, { headers: as('web') })).status).toBe(403);
      expect((await send(method, path, { headers: as('ops') })).status).toBe(200);
    }
  });

  it.each([
    ['nothing', {}],
    ['no capability', { intent: 'rain' }],
    ['neither words nor request', { correct: null }],
    ['an unknown field', { intent: 'rain', correct: null, score: 1 }],
    ['a lone surrogate', { intent: '\ud800', correct: null }],
    ['a request that nobody remembers', { requestId: 'req_unknown', correct: null }],
  ])('refuses %s', async (_what, body) => {
    const { send, services } = await startTestService();
    const answer = await send('POST', '/v1/feedback', { body });
    expect(problemOf(answer)).toMatchObject({ status: 400, code: 'AR_ERR_INVALID_REQUEST' });
    expect(services.calls).toEqual([]);
  });

  it('refuses an id that is none', async () => {
    const { send } = await startTestService();
    expect((await send('POST', '/v1/feedback/x/approve')).status).toBe(400);
    expect((await send('POST', '/v1/feedback/fb_7/approve')).status).toBe(404);
  });
});

describe('recent intents', () => {
  const caller = { requestId: 'r', keyId: 'web', scopes: new Set<string>() };
  const request = (intent: string) => routeRequestSchema.parse({ intent });
  const reply = (requestId: string) => routeReplySchema.parse({ ...structuredClone(ROUTE_REPLY), requestId });

  it('are forgotten after an hour and beyond ten thousand', () => {
    const clock = new ManualClock();
    const recent = new RecentIntents(clock);
    for (let i = 0; i <= RECENT_INTENTS; i++)
      recent.note(request('rain'), { ...reply('x'), requestId: `r${i}` }, caller);
    expect(recent.find('r0', caller)).toBeUndefined();
    expect(recent.find('r1', caller)?.intent).toBe('rain');
    clock.advance(RECENT_MS + 1);
    expect(recent.find('r1', caller)).toBeUndefined();
  });

  it('leave out what is too long to become an example, and what was asked to measure', () => {
    const recent = new RecentIntents(new ManualClock());
    recent.note(request('x'.repeat(501)), reply('long'), caller);
    recent.note({ ...request('rain'), probe: true }, reply('probe'), caller);
    expect(recent.find('long', caller)).toBeUndefined();
    expect(recent.find('probe', caller)).toBeUndefined();
  });
});
