import { describe, expect, it, vi } from 'vitest';
import { routeRequestSchema } from '../../src/contract/index.ts';
import type { RuleSet } from '../../src/rules/index.ts';
import { twoAgents } from './router-rig.ts';

describe('a batch of routes', () => {
  it('takes few explains, and many requests with others between them', async () => {
    const { router } = await twoAgents();
    const caller = { requestId: 'req_b', scopes: new Set(['*']) };
    const one = { capability: 'mail.send.message', namespace: 'default', priority: 5 };
    const explained = Array.from({ length: 9 }, () => ({ ...one, explain: true }));
    await expect(router.routeBatch(explained, caller)).rejects.toMatchObject({ code: 'AR_ERR_INVALID_REQUEST' });
    let turns = 0;
    const count = (): void => {
      turns++;
      handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    const replies = await router.routeBatch(
      Array.from({ length: 256 }, () => ({ ...one, explain: false })),
      caller,
    );
    clearImmediate(handle);
    expect(replies.every((reply) => reply.agent?.agentId === 'mail-1')).toBe(true);
    expect(turns).toBeGreaterThan(8);
  });

  it('gives way to others sooner where its requests are slow', async () => {
    const { router, rules, clock } = await twoAgents();
    let atOnce = 0;
    let mostAtOnce = 0;
    const count = (): void => {
      atOnce = 0;
      handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    vi.spyOn(rules, 'current', 'get').mockReturnValue({
      decide: () => {
        mostAtOnce = Math.max(mostAtOnce, ++atOnce);
        clock.advance(3);
      },
    } as unknown as RuleSet);
    const requests = Array.from({ length: 32 }, (_, i) => routeRequestSchema.parse({ intent: `book flight ${i}` }));
    await router.routeBatch(requests, { requestId: 'req_b', scopes: new Set(['*']) });
    clearImmediate(handle);
    expect(mostAtOnce).toBe(2);
  });

  it('answers in order, and fails as a whole with the place of a bad request', async () => {
    const { router } = await twoAgents();
    const caller = { requestId: 'req_b', scopes: new Set(['*']) };
    const one = (intent: string) => ({
      intent,
      namespace: 'default',
      topK: 5,
      priority: 5,
      explain: false,
    });
    const replies = await router.routeBatch([one('send an email'), one('weather forecast city')], caller);
    expect(replies.map((reply) => [reply.requestId, reply.agent?.agentId])).toEqual([
      ['req_b.0', 'mail-1'],
      ['req_b.1', 'weather-1'],
    ]);
    await expect(router.routeBatch([one('weather'), one('🌧️')], caller)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_INTENT',
      issues: [{ path: 'requests[1].intent' }],
    });
  });
});
