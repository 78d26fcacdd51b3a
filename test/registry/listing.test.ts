import { expect, test } from 'vitest';
import { makeBench, type RegistryBench, registrationOf } from './registry-bench.ts';

const ids = (bench: RegistryBench, query: Record<string, unknown>): string[] =>
  bench.registry.list({ limit: 100, ...query }).items.map((agent) => agent.agentId);

async function filled(): Promise<RegistryBench> {
  const bench = makeBench();
  await bench.registry.register(registrationOf('b', { zone: 'hz-1', tags: { team: 'sky:blue', gpu: '' } }));
  await bench.registry.register(registrationOf('a', { namespace: 'other', capabilities: ['mail.send.text'] }));
  const { reply } = await bench.registry.register(
    registrationOf('c', { capabilities: ['weather.query.alert', { name: 'mail.send.text', description: ' Mail ' }] }),
  );
  bench.registry.heartbeat('c', { leaseId: reply.leaseId, status: 'draining' });
  return bench;
}

test('filters by namespace, capability, domain, tag, zone and state, and by several', async () => {
  const bench = await filled();
  expect(ids(bench, {})).toEqual(['a', 'b', 'c']);
  expect(ids(bench, { namespace: 'default' })).toEqual(['b', 'c']);
  expect(ids(bench, { capability: 'mail.send.text' })).toEqual(['a', 'c']);
  expect(ids(bench, { domain: 'weather' })).toEqual(['b', 'c']);
  expect(ids(bench, { domain: 'weat' })).toEqual([]);
  expect(ids(bench, { tag: 'gpu' })).toEqual(['b']);
  expect(ids(bench, { tag: 'team:sky:blue' })).toEqual(['b']);
  expect(ids(bench, { tag: 'team:sky' })).toEqual([]);
  expect(ids(bench, { tag: 'constructor' })).toEqual([]);
  expect(ids(bench, { zone: 'hz-1' })).toEqual(['b']);
  expect(ids(bench, { state: 'draining', domain: 'mail' })).toEqual(['c']);
});

test('shows an agent without its lease, with the capabilities as sent', async () => {
  const bench = await filled();
  const view = bench.registry.get('c');
  expect(JSON.stringify(view)).not.toContain('lease_');
  expect(view).toMatchObject({ agentName: 'c', state: 'draining', load: null, zone: null, expiresAt: null });
  expect(view.capabilities).toEqual([{ name: 'weather.query.alert' }, { name: 'mail.send.text', description: 'Mail' }]);
});

test('pages through all agents once, also while some leave and come', async () => {
  const bench = makeBench();
  for (let i = 10; i < 35; i++) await bench.registry.register(registrationOf(`a${i}`));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = bench.registry.list({ limit: 10, ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...page.items.map((agent) => agent.agentId));
    cursor = page.nextCursor ?? undefined;
    const last = seen.at(-1);
    if (last === 'a19') {
      await bench.registry.withdraw(last, null);
      await bench.registry.register(registrationOf('a00'));
    }
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `a${i + 10}`));
});

test('ends without a cursor on a page that is exactly full', async () => {
  const bench = await filled();
  expect(bench.registry.list({ limit: 3 }).nextCursor).toBeNull();
});

test('refuses cursors of other makers', async () => {
  const bench = await filled();
  const foreign = [
    'x',
    '!!!!',
    Buffer.from('../etc').toString('base64url'),
    Buffer.from('a').toString('base64'),
    'YQ ',
  ];
  for (const cursor of foreign) {
    for (const list of [
      () => bench.registry.list({ limit: 1, cursor }),
      () => bench.registry.capabilities({ limit: 1, cursor }),
    ]) {
      expect(list).toThrow(expect.objectContaining({ code: 'AR_ERR_INVALID_CURSOR' }));
    }
  }
});

test('pages through capabilities of all namespaces, with how many agents can be routed to', async () => {
  const bench = await filled();
  const first = bench.registry.capabilities({ limit: 2 });
  const second = bench.registry.capabilities({ limit: 2, cursor: first.nextCursor ?? '' });
  expect(
    [...first.items, ...second.items].map((one) => [one.namespace, one.name, one.agents, one.routableAgents]),
  ).toEqual([
    ['default', 'mail.send.text', 1, 0],
    ['other', 'mail.send.text', 1, 1],
    ['default', 'weather.query.alert', 1, 0],
    ['default', 'weather.query.city', 1, 1],
  ]);
  expect(second.nextCursor).toBeNull();
  expect(bench.registry.capabilities({ limit: 9, domain: 'mail', namespace: 'other' }).items).toHaveLength(1);
});
