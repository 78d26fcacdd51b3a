import { describe, expect, test } from 'vitest';
import { AgentReachError, type CapabilityName } from '../../src/core/index.ts';
import { makeBench, registrationOf, settle } from './registry-bench.ts';

const CITY = 'weather.query.city' as CapabilityName;
const routed = (bench: ReturnType<typeof makeBench>, name: string = CITY, namespace = 'default'): string[] =>
  bench.registry.view
    .agentsOf(namespace, name as CapabilityName)
    .filter((agent) => agent.liveness.state === 'online')
    .map((agent) => agent.record.agentId);

describe('registering', () => {
  test('answers once the agent is routable, stored, searchable and told of', async () => {
    const bench = makeBench();
    const { reply, created } = await bench.registry.register(registrationOf('a'));
    expect(created).toBe(true);
    expect(reply).toEqual({
      agentId: 'a',
      leaseId: expect.stringMatching(/^lease_/),
      incarnation: 1,
      heartbeatIntervalMs: 30_000,
      warnings: [],
    });
    expect(routed(bench)).toEqual(['a']);
    expect(bench.index.current.get('default/weather.query.city')?.name).toBe(CITY);
    expect((await bench.store.load()).agents.map((record) => record.agentId)).toEqual(['a']);
    expect(bench.events.map((event) => event.type)).toEqual(['agent.registered']);
    expect(bench.registry.capability('default', CITY)).toMatchObject({ firstOwner: 'a', agents: 1, routableAgents: 1 });
  });

  test('keeps one record of an agent that starts again, with a new lease', async () => {
    const bench = makeBench();
    const first = await bench.registry.register(registrationOf('a'));
    const second = await bench.registry.register(registrationOf('a'));
    expect(second).toMatchObject({ created: false, reply: { incarnation: 2 } });
    expect(second.reply.leaseId).not.toBe(first.reply.leaseId);
    expect(bench.registry.list({ limit: 10 }).items).toHaveLength(1);
    const stale = { leaseId: first.reply.leaseId };
    expect(() => bench.registry.heartbeat('a', stale)).toThrow(expect.objectContaining({ code: 'AR_ERR_STALE_LEASE' }));
    await expect(bench.registry.withdraw('a', first.reply.leaseId)).rejects.toMatchObject({
      code: 'AR_ERR_STALE_LEASE',
    });
    expect(routed(bench)).toEqual(['a']);
  });

  test('makes one record of a hundred equal registrations at once', async () => {
    const bench = makeBench();
    const replies = await Promise.all(Array.from({ length: 100 }, () => bench.registry.register(registrationOf('a'))));
    expect(replies.filter((one) => one.created)).toHaveLength(1);
    expect(replies.map((one) => one.reply.incarnation).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, i) => i + 1),
    );
    expect(bench.registry.list({ limit: 10 }).items).toMatchObject([{ agentId: 'a', incarnation: 100 }]);
    expect((await bench.store.load()).agents).toMatchObject([{ incarnation: 100 }]);
  });

  test('leaves the capabilities and the namespace that a new start no longer names', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a', { capabilities: [CITY, 'weather.query.alert'] }));
    await bench.registry.register(registrationOf('b', { capabilities: [CITY] }));
    await bench.registry.register(registrationOf('a', { capabilities: ['mail.send.text'], namespace: 'other' }));
    expect([...bench.index.current.keys()].sort()).toEqual(['default/weather.query.city', 'other/mail.send.text']);
    expect(routed(bench)).toEqual(['b']);
    expect(routed(bench, 'mail.send.text', 'other')).toEqual(['a']);
    expect(bench.registry.view.hasCapability('default', 'weather.query.alert')).toBe(false);
  });

  test('joins what all agents say of a name, and forgets what nobody says any more', async () => {
    const bench = makeBench();
    const says = (description: string) => ({ capabilities: [{ name: CITY, description }] });
    const at = 'default/weather.query.city';
    await bench.registry.register(registrationOf('a', says('forecast')));
    await bench.registry.register(registrationOf('b', says('天气预报')));
    expect(bench.index.current.get(at)?.descriptions).toEqual(['forecast', '天气预报']);
    const applied = bench.index.applyCalls;
    await bench.registry.register(registrationOf('c', says('forecast')));
    expect(bench.index.applyCalls).toBe(applied);
    await bench.registry.withdraw('a', null);
    expect(bench.index.current.get(at)?.descriptions).toEqual(['forecast', '天气预报']);
    await bench.registry.withdraw('c', null);
    expect(bench.index.current.get(at)?.descriptions).toEqual(['天气预报']);
    expect(bench.index.prepared.at(-1)?.descriptions).toEqual(['forecast', '天气预报']);
  });

  test('changes nothing when the index or the store refuses', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    const epoch = bench.registry.view.epoch;
    bench.index.failNext = new AgentReachError('AR_ERR_OVERLOADED');
    const changed = registrationOf('a', { capabilities: ['mail.send.text'] });
    await expect(bench.registry.register(changed)).rejects.toMatchObject({ code: 'AR_ERR_OVERLOADED' });
    bench.store.isBroken = true;
    await expect(bench.registry.register(changed)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    await expect(bench.registry.register(registrationOf('b'))).rejects.toMatchObject({
      code: 'AR_ERR_STORE_UNAVAILABLE',
    });
    await expect(bench.registry.withdraw('a', null)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    bench.store.isBroken = false;
    expect(bench.registry.view.epoch).toBe(epoch);
    expect(routed(bench)).toEqual(['a']);
    expect([...bench.index.current.keys()]).toEqual(['default/weather.query.city']);
    expect(bench.dictionary.get('default', 'mail.send.text')).toBeUndefined();
    expect((await bench.registry.register(registrationOf('a'))).reply.incarnation).toBe(2);
  });

  test('is not routable before the store has it', async () => {
    const bench = makeBench();
    const release = bench.store.hold();
    const registering = bench.registry.register(registrationOf('a'));
    await settle();
    expect(routed(bench)).toEqual([]);
    release();
    await registering;
    expect(routed(bench)).toEqual(['a']);
  });

  test.each([
    ['texts are embedded', 'prepare'],
    ['it is stored', 'commit'],
  ] as const)('counts on from what beats of the old start made of the agent while %s', async (_when, step) => {
    for (const capabilities of [[CITY], [CITY, 'weather.query.alert']]) {
      const bench = makeBench();
      const { reply } = await bench.registry.register(registrationOf('a'));
      const beats = async (): Promise<void> => {
        for (const status of ['draining', 'healthy', 'draining'] as const) {
          bench.registry.heartbeat('a', { leaseId: reply.leaseId, status });
        }
      };
      if (step === 'prepare') bench.index.onPrepare = beats;
      const release = step === 'commit' ? bench.store.hold() : () => undefined;
      const registering = bench.registry.register(registrationOf('a', { capabilities }));
      await settle();
      if (step === 'commit') await beats();
      release();
      await registering;
      await bench.registry.stop();
      const revisions = bench.events.map((event) => ('revision' in event ? event.revision : 0));
      // A new start that says something else and comes back from draining is two events of one revision.
      expect(revisions).toEqual(capabilities.length === 1 ? [1, 2, 3, 4, 5] : [1, 2, 3, 4, 5, 5]);
      expect(bench.registry.list({ limit: 1 }).items).toMatchObject([{ state: 'online', revision: 5 }]);
      expect((await bench.store.load()).agents).toMatchObject([{ drain: null, revision: 5 }]);
    }
  });

  test('keeps what an operator said at another instance while texts were embedded', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    const [record] = (await bench.store.load()).agents;
    if (record === undefined) throw new Error('it is stored');
    const cordoned = { by: 'ops', at: 0, reason: 'disk' };
    bench.index.onPrepare = async () => {
      bench.registry.follower.stored({ putAgents: [{ ...record, cordoned, revision: 2 }], why: 'cordoned' });
    };
    const { reply } = await bench.registry.register(registrationOf('a'));
    expect(reply.warnings).toMatchObject([{ code: 'cordoned' }]);
    expect(bench.registry.list({ limit: 1 }).items).toMatchObject([{ state: 'cordoned', incarnation: 2 }]);
    expect((await bench.store.load()).agents).toMatchObject([{ cordoned, incarnation: 2 }]);
  });

  test('files unknown names of a curated dictionary as proposed, stored, and refuses', async () => {
    const bench = makeBench({ mode: 'curated' });
    await expect(bench.registry.register(registrationOf('a'))).rejects.toMatchObject({
      code: 'AR_ERR_CAPABILITY_NOT_APPROVED',
    });
    expect(bench.registry.capability('default', CITY)).toMatchObject({ status: 'proposed', agents: 0 });
    expect((await bench.store.load()).entries).toMatchObject([{ name: CITY, status: 'proposed' }]);
    expect(bench.events.map((event) => event.type)).toEqual(['capability.proposed']);
    await bench.registry.updateCapability('default', CITY, { status: 'active' });
    expect((await bench.registry.register(registrationOf('a'))).created).toBe(true);
  });

  test('keeps a name sensitive when two first registrations of it race', async () => {
    for (const order of [
      [true, false],
      [false, true],
    ]) {
      const bench = makeBench();
      await Promise.all(
        order.map((sensitive, i) =>
          bench.registry.register(registrationOf(`a${i}`, { capabilities: [{ name: CITY, sensitive }] })),
        ),
      );
      expect((await bench.store.load()).entries).toMatchObject([{ sensitive: true, firstOwner: 'a0' }]);
      expect(bench.dictionary.get('default', CITY)?.sensitive).toBe(true);
    }
  });

  test('keeps what an operator says of a name while its texts are being embedded', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    await bench.registry.register(registrationOf('b', { capabilities: ['weather.query.alert'] }));
    bench.index.onPrepare = async () => {
      bench.index.onPrepare = undefined;
      await bench.registry.updateCapability('default', CITY, {
        status: 'deprecated',
        replacedBy: 'weather.query.alert',
      });
    };
    const sensitive = registrationOf('c', { capabilities: [{ name: CITY, sensitive: true }] });
    const { reply } = await bench.registry.register(sensitive);
    expect(reply.warnings).toMatchObject([{ code: 'deprecated_capability' }]);
    expect(bench.registry.capability('default', CITY)).toMatchObject({ status: 'deprecated', sensitive: true });
    expect((await bench.store.load()).entries).toContainEqual(
      expect.objectContaining({ name: CITY, status: 'deprecated', sensitive: true }),
    );
  });

  test('passes warnings of the index and the dictionary on', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    bench.index.warnings = [{ code: 'near_duplicate_meaning', message: 'like another' }];
    const { reply } = await bench.registry.register(registrationOf('b', { capabilities: ['weather.query.cities'] }));
    const codes = reply.warnings.map((warning) => warning.code);
    expect(codes).toContain('near_duplicate_meaning');
    const typo = await bench.registry.register(registrationOf('c', { capabilities: ['weather.query.citi'] }));
    expect(typo.reply.warnings.map((warning) => warning.code)).toContain('near_duplicate_name');
  });

  test('refuses an expiry in the past, on its path', async () => {
    const bench = makeBench();
    const past = registrationOf('a', { expiresAt: new Date(bench.clock.wallNow()).toISOString() });
    await expect(bench.registry.register(past)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_REQUEST',
      issues: [{ path: 'expiresAt' }],
    });
  });
});

describe('withdrawing', () => {
  test('removes the agent from every answer and from the store', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a'));
    await bench.registry.withdraw('a', reply.leaseId);
    expect(routed(bench)).toEqual([]);
    expect(bench.index.current.size).toBe(0);
    expect((await bench.store.load()).agents).toEqual([]);
    expect((await bench.store.load()).entries).toHaveLength(1);
    expect(() => bench.registry.get('a')).toThrow(expect.objectContaining({ code: 'AR_ERR_AGENT_NOT_FOUND' }));
    await expect(bench.registry.withdraw('a', null)).rejects.toMatchObject({ code: 'AR_ERR_AGENT_NOT_FOUND' });
    expect(bench.clock.pendingTimers).toBeLessThanOrEqual(1);
  });

  test('stays registered until the store has let go of it', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    const release = bench.store.hold();
    const leaving = bench.registry.withdraw('a', null);
    await settle();
    expect(routed(bench)).toEqual(['a']);
    release();
    await leaving;
    expect(routed(bench)).toEqual([]);
  });
});

describe('an operator on a capability', () => {
  test('changes the meaning that is searched, durably', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    const view = await bench.registry.updateCapability('default', CITY, { sensitive: true, description: 'by hand' });
    expect(view).toMatchObject({ sensitive: true, descriptions: ['by hand'] });
    expect(bench.index.current.get('default/weather.query.city')).toMatchObject({ sensitive: true });
    expect((await bench.store.load()).entries).toMatchObject([{ sensitive: true, description: 'by hand' }]);
    expect(bench.events.at(-1)).toMatchObject({ type: 'capability.updated', capability: CITY });
  });

  test('cannot clear what an agent says, and can once none does', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(
      registrationOf('a', { capabilities: [{ name: CITY, sensitive: true }] }),
    );
    await bench.registry.register(registrationOf('b'));
    const clear = () => bench.registry.updateCapability('default', CITY, { sensitive: false });
    const { epoch } = bench.registry.view;
    await expect(clear()).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_REQUEST',
      issues: [{ path: 'sensitive', message: 'stays true while an agent says so: a' }],
    });
    expect(bench.registry.view.epoch).toBe(epoch);
    await bench.registry.withdraw('a', reply.leaseId);
    expect(await clear()).toMatchObject({ sensitive: false });
  });

  test.each(['registration first', 'update first'])('and a registration keep each other’s word: %s', async (order) => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    const release = bench.store.hold();
    const register = () =>
      bench.registry.register(registrationOf('b', { capabilities: [{ name: CITY, sensitive: true }] }));
    const update = () => bench.registry.updateCapability('default', CITY, { description: 'by hand' });
    const changes: Promise<unknown>[] = [];
    for (const change of order === 'update first' ? [update, register] : [register, update]) {
      changes.push(change());
      await settle();
    }
    release();
    await Promise.all(changes);
    const both = { name: CITY, status: 'active', sensitive: true, description: 'by hand' };
    expect((await bench.store.load()).entries).toMatchObject([both]);
    expect(bench.dictionary.get('default', CITY)).toMatchObject(both);
  });

  test('is told which name was probably meant', () => {
    const bench = makeBench();
    expect(() => bench.registry.capability('default', CITY)).toThrow(
      expect.objectContaining({ code: 'AR_ERR_CAPABILITY_NOT_FOUND' }),
    );
    expect(() => bench.registry.capability('default', 'weather')).toThrow(
      expect.objectContaining({
        code: 'AR_ERR_INVALID_CAPABILITY',
        issues: [expect.objectContaining({ path: 'name' })],
      }),
    );
  });
});

describe('loading', () => {
  test('brings agents, dictionary and meanings back in one call of the index', async () => {
    const before = makeBench();
    await before.registry.register(registrationOf('a', { capabilities: [CITY, 'mail.send.text'] }));
    await before.registry.register(registrationOf('b'));
    await before.registry.stop();
    const after = makeBench({ store: before.store });
    await after.registry.load();
    expect(routed(after)).toEqual(['a', 'b']);
    expect(after.index.applyCalls).toBe(1);
    expect(after.index.current).toEqual(before.index.current);
    expect(after.dictionary.list()).toEqual(before.dictionary.list());
    expect(
      after.registry.heartbeat('a', { leaseId: before.registry.view.agent('a')?.record.leaseId ?? '' }).state,
    ).toBe('online');
    expect((await after.registry.register(registrationOf('a'))).reply.incarnation).toBe(2);
  });
});

test('refuses changes after stop, still answers beats, and leaves no timer', async () => {
  const bench = makeBench();
  const { reply } = await bench.registry.register(registrationOf('a'));
  const release = bench.store.hold();
  const onItsWay = bench.registry.register(registrationOf('c'));
  const stopping = bench.registry.stop();
  release();
  await stopping;
  expect((await onItsWay).created).toBe(true);
  expect(bench.registry.heartbeat('a', { leaseId: reply.leaseId }).state).toBe('online');
  await expect(bench.registry.register(registrationOf('b'))).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
  expect(bench.clock.pendingTimers).toBe(0);
});
