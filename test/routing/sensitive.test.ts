/** A sensitive capability over every way in: answered to the right callers only, and never without a record. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RouteRequest, routeRequestSchema, ruleSchema } from '../../src/contract/index.ts';
import { subscribe } from '../../src/core/index.ts';
import { MAIL, routerRig, WEATHER } from './router-rig.ts';

const DELETE = {
  name: 'account.delete.user',
  description: 'delete a user account for good',
  aliases: ['close account'],
  examples: ['remove my login'],
  sensitive: true,
};
const RULE = ruleSchema.parse({
  id: 'delete-user',
  match: 'contains',
  patterns: ['注销我的账号'],
  capability: DELETE.name,
  negation: 'except',
});

async function rig() {
  const made = await routerRig();
  await made.register({ id: 'weather-1' }, [WEATHER]);
  await made.register({ id: 'mail-1' }, [MAIL]);
  await made.register({ id: 'account-1' }, [DELETE]);
  await made.rules.put(RULE, { by: 'test' });
  const records = async () => (await made.audit.list({ limit: 100 })).items.toReversed();
  return { ...made, records };
}

const ROUTE = ['route'];
const HOLDER = ['route', 'sensitive'];

describe('a sensitive capability', () => {
  it.each([
    ['a rule', { intent: '请注销我的账号' }, 'rule'],
    ['its exact name as intent', { intent: 'Account.Delete.User' }, 'exact'],
    ['the capability field', { capability: DELETE.name }, 'exact'],
  ])(
    'is reached by %s with the scope only, never from the cache, and each is recorded',
    async (_by, fields, matchedBy) => {
      const { ask, records } = await rig();
      for (const scopes of [HOLDER, ROUTE, HOLDER, ['*'], ['route', DELETE.name]]) {
        const reply = await ask(fields as Partial<RouteRequest>, scopes);
        expect(reply.cache).toBe('bypass');
        if (scopes === ROUTE)
          expect(reply).toMatchObject({ decision: 'no_match', reason: 'scope_required', agent: null });
        else expect(reply).toMatchObject({ decision: 'route', agent: { agentId: 'account-1' }, matchedBy });
      }
      expect((await records()).map(({ seq, outcome, agentId }) => [seq, outcome, agentId])).toEqual([
        [1, 'reached', 'account-1'],
        [2, 'scope_required', null],
        [3, 'reached', 'account-1'],
        [4, 'reached', 'account-1'],
        [5, 'reached', 'account-1'],
      ]);
    },
  );

  it.each([
    'delete a user account for good',
    'close account',
    'remove my login',
    '不要注销我的账号 delete a user account for good',
  ])('is never reached by meaning or alias: %s', async (intent) => {
    const { ask, records } = await rig();
    for (let i = 0; i < 2; i++) {
      const reply = await ask({ intent, explain: true }, ROUTE);
      expect(reply).toMatchObject({ decision: 'no_match', reason: 'sensitive_requires_rule', cache: 'bypass' });
      expect(JSON.stringify({ ...reply, explain: reply.explain?.recall })).not.toContain(DELETE.name);
      expect(JSON.stringify(reply.explain?.recall)).not.toContain('for good');
    }
    expect(JSON.stringify(await ask({ intent, explain: true }, HOLDER))).toContain(DELETE.name);
    expect(await records()).toMatchObject(
      Array(3).fill({ outcome: 'near_miss', capability: DELETE.name, agentId: null, matchedBy: null }),
    );
  });

  it('is guarded and recorded in a probe as in a call, and the record says that it was one', async () => {
    const { ask, records } = await rig();
    const events: unknown[] = [];
    onTestFinished(subscribe('route.decided', ({ isProbe, decision }) => events.push([decision, isProbe])));
    const probe = { capability: DELETE.name, probe: true };
    let evaluations = 0;
    onTestFinished(
      subscribe('rules.evaluated', () => {
        evaluations += 1;
      }),
    );
    expect(await ask({ intent: '注销我的账号', probe: true }, ROUTE)).toMatchObject({ reason: 'scope_required' });
    expect(evaluations).toBe(0);
    expect(await ask(probe, ROUTE)).toMatchObject({ decision: 'no_match', reason: 'scope_required' });
    expect(await ask(probe, HOLDER)).toMatchObject({ decision: 'route', agent: { agentId: 'account-1' } });
    await ask({ capability: DELETE.name }, HOLDER);
    expect((await records()).map(({ outcome, probe: isProbe }) => [outcome, isProbe])).toEqual([
      ['scope_required', true],
      ['scope_required', true],
      ['reached', true],
      ['reached', undefined],
    ]);
    expect(events).toEqual([
      ['no_match', true],
      ['no_match', true],
      ['route', true],
      ['route', false],
    ]);
  });

  it('is guarded in a batch as alone, with a record for each', async () => {
    const { router, records } = await rig();
    const requests = [{ intent: '注销我的账号' }, { capability: DELETE.name }, { intent: 'send an email' }].map((one) =>
      routeRequestSchema.parse(one),
    );
    const replies = await router.routeBatch(requests, { requestId: 'b', scopes: new Set(ROUTE), keyId: 'web' });
    expect(replies.map(({ reason, agent }) => reason ?? agent?.agentId)).toEqual([
      'scope_required',
      'scope_required',
      'mail-1',
    ]);
    expect((await records()).map(({ requestId, keyId }) => `${keyId} ${requestId}`).sort()).toEqual([
      'web b.0',
      'web b.1',
    ]);
  });

  it("is one namespace's matter: the same name elsewhere is plain, and of nobody elsewhere unknown", async () => {
    const { ask, register, records } = await rig();
    await register({ id: 'account-b', namespace: 'team-b' }, [
      { name: DELETE.name, description: 'delete a demo account' },
    ]);
    const intent = '注销我的账号';
    expect((await ask({ intent, namespace: 'team-b' }, ROUTE)).agent?.agentId).toBe('account-b');
    expect(await ask({ intent }, ROUTE)).toMatchObject({ reason: 'scope_required' });
    expect(await ask({ intent, namespace: 'team-c' }, ROUTE)).toMatchObject({ reason: 'unknown_capability' });
    expect((await records()).map(({ namespace, outcome }) => [namespace, outcome])).toEqual([
      ['default', 'scope_required'],
    ]);
  });

  it('goes on by rule, name and record while the model is down', async () => {
    const { ask, embedder, records } = await rig();
    embedder.failWith('crashed');
    expect(await ask({ intent: '注销我的账号' }, HOLDER)).toMatchObject({
      agent: { agentId: 'account-1' },
      degraded: true,
    });
    expect(await ask({ intent: 'delete a user account' }, HOLDER)).toMatchObject({ reason: 'sensitive_requires_rule' });
    expect((await records()).map(({ outcome }) => outcome)).toEqual(['reached', 'near_miss']);
  });

  it('answers 503 and no agent when the record cannot be stored; plain routes go on', async () => {
    const { ask, store } = await rig();
    await store.close();
    for (const fields of [{ intent: '注销我的账号' }, { capability: DELETE.name }, { intent: 'close account' }]) {
      await expect(ask(fields, HOLDER)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    }
    expect((await ask({ intent: 'send an email' }, ROUTE)).agent?.agentId).toBe('mail-1');
  });

  it('records what the operator needs to know', async () => {
    const { ask, records, clock } = await rig();
    await ask({ intent: ' 请注销我的账号！' }, HOLDER);
    expect(await records()).toEqual([
      {
        seq: 1,
        at: new Date(clock.wallNow()).toISOString(),
        requestId: 'req_test',
        keyId: 'local',
        namespace: 'default',
        capability: DELETE.name,
        outcome: 'reached',
        decision: 'route',
        agentId: 'account-1',
        matchedBy: 'rule',
        ruleId: 'delete-user',
        rulesVersion: 1,
        intentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        intent: '请注销我的账号!',
      },
    ]);
  });
});
