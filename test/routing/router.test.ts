import { describe, expect, it, vi } from 'vitest';
import { routeReplySchema, routeRequestSchema, ruleSchema } from '../../src/contract/index.ts';
import { AgentReachError } from '../../src/core/index.ts';
import { MAIL, routerRig, twoAgents, WEATHER } from './router-rig.ts';

describe('Router', () => {
  it('routes an intent to the agent whose capability it means, in a reply that fits its schema', async () => {
    const { ask } = await twoAgents();
    const reply = await ask({ intent: 'weather forecast for Hangzhou city' });
    expect(routeReplySchema.parse(reply)).toEqual(reply);
    expect(reply).toMatchObject({
      decision: 'route',
      reason: null,
      capability: 'weather.query.city',
      agent: { agentId: 'weather-1', state: 'online', transport: { type: 'http' } },
      matchedBy: 'semantic',
      degraded: false,
      cache: 'miss',
    });
  });

  it('recomputes: the score is the weighted sum of the shown factors', async () => {
    const { ask, replace } = await twoAgents();
    replace({
      id: 'weather-1',
      capabilities: [WEATHER.name],
      load: { active: 2, queued: 0, max: 8 },
      latencyMs: 500,
    });
    const { score, factors } = await ask({ intent: 'weather forecast for a city' });
    if (factors === null || score === null) throw new Error('no route');
    const { relevance = 0, load = 0, latency = 0 } = factors;
    expect(load).toBe(0.25);
    expect(latency).toBe(0.1);
    expect(score).toBeCloseTo(0.5 * relevance + 0.3 * (1 - load) + 0.2 * (1 - latency), 5);
  });

  it('stays under 1 KB without explain, and tells every part with it', async () => {
    const { ask, register } = await twoAgents();
    for (let i = 2; i < 9; i++) await register({ id: `weather-${i}` }, [WEATHER]);
    await register({ id: 'weather-dead', state: 'offline' }, [WEATHER]);
    const plain = await ask({ intent: 'weather forecast for a city' });
    expect(JSON.stringify(plain).length).toBeLessThan(1_024);
    expect(plain.alternatives).toHaveLength(4);
    const { explain } = await ask({ intent: 'weather forecast for a city', explain: true });
    expect(explain?.candidates).toHaveLength(8);
    for (const candidate of explain?.candidates ?? []) {
      const sum = candidate.parts.reduce((total, part) => total + part.part, 0);
      expect(sum).toBeCloseTo(candidate.score, 4);
    }
    expect(explain?.dropped).toEqual([
      { agentId: 'weather-dead', capability: 'weather.query.city', reason: 'offline' },
    ]);
    expect(explain?.recall[0]).toMatchObject({ capability: 'weather.query.city', gate: 'passed' });
  });

  it('says no_match honestly, with the nearest names', async () => {
    const { ask } = await twoAgents();
    const reply = await ask({ intent: 'quantum chromodynamics lecture notes' });
    expect(reply).toMatchObject({ decision: 'no_match', reason: 'below_min_relevance', agent: null, capability: null });
    for (const one of reply.alternatives) expect(one.agentId).toBeNull();
  });

  it('answers nothing_registered in an empty namespace', async () => {
    const { ask } = await twoAgents();
    expect(await ask({ intent: 'weather', namespace: 'other' })).toMatchObject({
      decision: 'no_match',
      reason: 'nothing_registered',
      alternatives: [],
    });
  });

  it.each(['weather.query.city', ' WEATHER.query.city ', 'Weather Report', 'ｗｅａｔｈｅｒ ｒｅｐｏｒｔ'])(
    'takes "%s" as the name or alias that it is',
    async (intent) => {
      const { ask } = await twoAgents();
      expect(await ask({ intent })).toMatchObject({
        matchedBy: 'exact',
        relevance: 1,
        agent: { agentId: 'weather-1' },
      });
    },
  );

  it('takes a capability by its exact name, and suggests near ones', async () => {
    const { ask } = await twoAgents();
    expect(await ask({ capability: 'mail.send.message' })).toMatchObject({ matchedBy: 'exact', cache: 'bypass' });
    expect(await ask({ capability: 'mail.send.massage' })).toMatchObject({ reason: 'unknown_capability' });
    await expect(ask({ capability: 'Mail.send' })).rejects.toMatchObject({ code: 'AR_ERR_INVALID_CAPABILITY' });
  });

  it.each(['', '   ', '🌧️☔', '?!…', '——'])('refuses the wordless intent "%s"', async (intent) => {
    const { ask } = await twoAgents();
    await expect(ask({ intent })).rejects.toMatchObject({ code: 'AR_ERR_INVALID_INTENT' });
  });

  it('refuses a text that becomes many times as long in canonical form', async () => {
    const { ask } = await twoAgents();
    const refused = await ask({ intent: 'ﷺ'.repeat(2_000) }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'AR_ERR_INVALID_INTENT', issues: [{ path: 'intent' }] });
    expect(await ask({ intent: `weather forecast for a city ${'…'.repeat(1_000)}` })).toMatchObject({
      capability: WEATHER.name,
    });
  });

  it('keeps namespaces apart', async () => {
    const { ask, register } = await twoAgents();
    await register({ id: 'weather-b', namespace: 'team-b' }, [WEATHER]);
    expect((await ask({ intent: 'weather forecast city' })).agent?.agentId).toBe('weather-1');
    expect((await ask({ intent: 'weather forecast city', namespace: 'team-b' })).agent?.agentId).toBe('weather-b');
    expect(await ask({ intent: 'send an email', namespace: 'team-b' })).toMatchObject({ decision: 'no_match' });
  });

  it('names both where two capabilities are equally likely, even when one has no agent', async () => {
    const { ask, register, agents } = await twoAgents();
    await register({ id: 'mail-2' }, [{ name: 'mail.deliver.message', description: 'send an email to somebody' }]);
    const both = await ask({ intent: 'send an email to somebody', topK: 2 });
    expect(both.ambiguous).toBe(true);
    const named = (reply: typeof both) => [reply.capability, ...reply.alternatives.map((one) => one.capability)].sort();
    expect(named(both)).toEqual(['mail.deliver.message', 'mail.send.message']);
    agents.splice(
      agents.findIndex(({ record }) => record.agentId === 'mail-2'),
      1,
    );
    expect(named(await ask({ intent: 'send an email to somebody', topK: 2 }))).toEqual(named(both));
  });

  it('says ambiguous out of the cache and in a batch too, and judges the margin anew', async () => {
    let ambiguityMargin = 0.05;
    const { ask, register, router } = await routerRig({
      get ambiguityMargin() {
        return ambiguityMargin;
      },
    });
    await register({ id: 'mail-1' }, [MAIL]);
    await register({ id: 'mail-2' }, [{ name: 'mail.deliver.message', description: 'send an email to somebody' }]);
    const intent = 'send an email to somebody';
    expect(await ask({ intent })).toMatchObject({ ambiguous: true, cache: 'miss' });
    expect(await ask({ intent })).toMatchObject({ ambiguous: true, cache: 'hit' });
    const requests = [intent, `${intent} please`].map((one) => routeRequestSchema.parse({ intent: one }));
    const replies = await router.routeBatch(requests, { requestId: 'req_batch', scopes: new Set(['*']) });
    expect(replies.map(({ ambiguous }) => ambiguous)).toEqual([true, true]);
    ambiguityMargin = -1;
    expect(await ask({ intent })).toMatchObject({ ambiguous: false, cache: 'hit' });
  });

  describe('live state', () => {
    it('never answers an offline, full or excluded agent out of the cache', async () => {
      const { ask, replace, register } = await twoAgents();
      const intent = 'weather forecast for a city';
      expect((await ask({ intent })).cache).toBe('miss');
      replace({ id: 'weather-1', capabilities: [WEATHER.name], state: 'offline' });
      expect(await ask({ intent })).toMatchObject({ cache: 'hit', decision: 'no_match', reason: 'no_agent_available' });
      replace({ id: 'weather-1', capabilities: [WEATHER.name], load: { active: 8, queued: 0, max: 8 } });
      expect(await ask({ intent })).toMatchObject({
        cache: 'hit',
        decision: 'queue',
        reason: 'all_agents_full',
        agent: null,
        capability: 'weather.query.city',
        retryAfterMs: 1_000,
      });
      await register({ id: 'weather-2' }, [WEATHER]);
      expect((await ask({ intent })).agent?.agentId).toBe('weather-2');
      expect(await ask({ intent, exclude: ['weather-2'] })).toMatchObject({ decision: 'queue' });
    });

    it('queues when every candidate is over 80 % loaded', async () => {
      const { ask, replace } = await twoAgents();
      replace({ id: 'weather-1', capabilities: [WEATHER.name], load: { active: 7, queued: 0, max: 8 } });
      const reply = await ask({ intent: 'weather forecast for a city' });
      expect(reply).toMatchObject({ decision: 'queue', reason: 'all_agents_overloaded', agent: null });
      expect(reply.alternatives[0]).toMatchObject({ agentId: 'weather-1' });
    });
  });

  describe('cache', () => {
    it('hits for one minute on any spelling with the same canonical text', async () => {
      const { ask, clock, embedder } = await twoAgents();
      await ask({ intent: 'Weather forecast for a city' });
      const before = embedder.embeddedTexts;
      expect((await ask({ intent: '  ｗeather  FORECAST for a city ' })).cache).toBe('hit');
      expect(embedder.embeddedTexts).toBe(before);
      clock.advance(60_001);
      expect((await ask({ intent: 'weather forecast for a city' })).cache).toBe('miss');
    });

    it('embeds once for equal intents that come at once', async () => {
      const { ask, embedder } = await twoAgents();
      const before = embedder.embeddedTexts;
      const replies = await Promise.all(Array.from({ length: 20 }, () => ask({ intent: 'rain in some city' })));
      expect(embedder.embeddedTexts).toBe(before + 1);
      expect(replies.map((reply) => reply.cache).sort()).toEqual([...Array(19).fill('coalesced'), 'miss']);
    });

    it('forgets when a capability comes or a rule changes', async () => {
      const { ask, register, rules } = await twoAgents();
      const intent = 'issue an invoice for the weather forecast';
      await ask({ intent });
      await register({ id: 'invoice-1' }, [{ name: 'finance.issue.invoice', description: 'issue an invoice' }]);
      expect((await ask({ intent })).cache).toBe('miss');
      expect((await ask({ intent })).cache).toBe('hit');
      const rule = { id: 'r', match: 'contains', patterns: ['invoice'], capability: 'finance.issue.invoice' };
      await rules.put(ruleSchema.parse(rule), { by: 'test' });
      expect(await ask({ intent })).toMatchObject({ cache: 'miss', matchedBy: 'rule', ruleId: 'r', relevance: 1 });
    });
  });

  describe('rules and sensitive capabilities', () => {
    const DELETE = {
      name: 'account.delete.user',
      description: 'delete a user account for good',
      aliases: ['delete account'],
      sensitive: true,
    };

    it('never answers a sensitive capability by meaning or alias, nor the next best in its place', async () => {
      const { ask, register } = await twoAgents();
      await register({ id: 'account-1' }, [DELETE]);
      await register({ id: 'account-2' }, [{ name: 'account.query.user', description: 'show a user account' }]);
      for (const intent of ['delete a user account for good', 'delete account']) {
        const reply = await ask({ intent });
        expect(reply).toMatchObject({ decision: 'no_match', reason: 'sensitive_requires_rule', agent: null });
        expect(JSON.stringify(reply)).not.toContain('account.delete.user');
      }
    });

    it('reaches it by its exact name or a rule, with the scope', async () => {
      const { ask, register, rules } = await twoAgents();
      await register({ id: 'account-1' }, [DELETE]);
      const reached = { agent: { agentId: 'account-1' }, cache: 'bypass' };
      expect(await ask({ intent: DELETE.name })).toMatchObject({ ...reached, matchedBy: 'exact' });
      expect(await ask({ capability: DELETE.name }, ['route', 'sensitive'])).toMatchObject(reached);
      expect(await ask({ capability: DELETE.name }, ['route', DELETE.name])).toMatchObject(reached);
      expect(await ask({ capability: DELETE.name }, ['route'])).toMatchObject({
        reason: 'scope_required',
        agent: null,
      });
      const rule = {
        id: 'delete-user',
        match: 'exact',
        patterns: ['注销我的账号'],
        capability: DELETE.name,
        requireScope: 'account.admin',
      };
      await rules.put(ruleSchema.parse(rule), { by: 'test' });
      const intent = '注销我的账号';
      expect(await ask({ intent }, ['route', 'account.admin'])).toMatchObject({ ...reached, matchedBy: 'rule' });
      expect(await ask({ intent }, ['route', 'sensitive'])).toMatchObject({ reason: 'scope_required', agent: null });
    });

    it('denies what a rule denies, and goes on with rules while the model is down', async () => {
      const { ask, rules, embedder } = await twoAgents();
      const rule = { id: 'no-wipe', match: 'contains', patterns: ['wipe the disk'], deny: true };
      await rules.put(ruleSchema.parse(rule), { by: 'test' });
      embedder.failWith('crashed');
      expect(await ask({ intent: 'please wipe the disk' })).toMatchObject({
        decision: 'no_match',
        reason: 'denied_by_rule',
        matchedBy: 'rule',
        ruleId: 'no-wipe',
        degraded: true,
      });
    });
  });

  describe('degraded', () => {
    it('routes by words, says so in every answer, keeps nothing of it, and heals', async () => {
      const { ask, embedder } = await twoAgents();
      const intent = 'weather forecast for a city';
      embedder.failWith('the model process crashed');
      for (let i = 0; i < 2; i++) {
        expect(await ask({ intent })).toMatchObject({
          decision: 'route',
          matchedBy: 'lexical',
          degraded: true,
          degradedReason: 'the model process crashed',
          cache: 'bypass',
          agent: { agentId: 'weather-1' },
        });
      }
      expect(await ask({ capability: 'mail.send.message' })).toMatchObject({ degraded: true, matchedBy: 'exact' });
      embedder.failWith(null);
      expect(await ask({ intent })).toMatchObject({ matchedBy: 'semantic', degraded: false, cache: 'miss' });
    });

    it('finds an agent that registered meanwhile by words, and by meaning once the model is back', async () => {
      const { ask, embedder, register, indexer } = await twoAgents();
      embedder.failWith('crashed');
      await register({ id: 'pizza-1' }, [{ name: 'food.order.pizza', description: 'order a pizza to your home' }]);
      expect(await ask({ intent: 'order a pizza' })).toMatchObject({
        matchedBy: 'lexical',
        agent: { agentId: 'pizza-1' },
      });
      expect(indexer.missingVectors).toBe(2);
      embedder.failWith(null);
      await indexer.settled();
      expect(indexer.missingVectors).toBe(0);
      expect(await ask({ intent: 'order a pizza' })).toMatchObject({ matchedBy: 'semantic', degraded: false });
    });
  });

  describe('a model that hangs', () => {
    it('says degraded to the caller who waited and to everybody who joined', async () => {
      const { ask, embedder, clock } = await twoAgents();
      const restore = embedder.embed;
      embedder.embed = () => new Promise(() => {});
      const both = Promise.all([ask({ intent: 'weather forecast city' }), ask({ intent: 'weather forecast city' })]);
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(2_001);
      for (const reply of await both) expect(reply).toMatchObject({ matchedBy: 'lexical', degraded: true });
      embedder.embed = restore;
    });
  });

  it('goes on by words where the text waits for the model until it is too late', async () => {
    const { ask, embedder } = await twoAgents();
    const late = new AgentReachError('AR_ERR_DEADLINE', { detail: 'The model was busy until it was too late.' });
    const embed = vi.spyOn(embedder, 'embed').mockRejectedValueOnce(late);
    const reply = await ask({ intent: 'weather forecast for a city' });
    expect(reply).toMatchObject({ capability: WEATHER.name, matchedBy: 'lexical', degraded: true });
    expect(reply.degradedReason).toContain('busy');
    embed.mockRestore();
    expect(await ask({ intent: 'weather forecast for a city' })).toMatchObject({
      matchedBy: 'semantic',
      cache: 'miss',
    });
  });
});
