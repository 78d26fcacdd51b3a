import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ReachClient } from '../../src/sdk/index.ts';
import { json, problem, type StandIn, startStandIn } from './stand-in-service.ts';

let service: StandIn;
let client: ReachClient;

beforeAll(async () => {
  service = await startStandIn({
    'POST /v1/heartbeats': () => json({ results: [], refused: 0 }),
    'POST /v1/agents/a/report': () => json({ agentId: 'a', state: 'suspect' }),
    'POST /v1/agents/a/cordon': () => json({ agentId: 'a' }),
    'DELETE /v1/agents/a/cordon': () => json({ agentId: 'a' }),
    'POST /v1/agents/a/drain': () => json({ agentId: 'a' }),
    'DELETE /v1/agents/a/drain': () => json({ agentId: 'a' }),
    'PUT /v1/agents/a/heartbeat': () => problem('AR_ERR_LEASE_FORGOTTEN', 410, 'register again'),
  });
  client = new ReachClient({ baseUrl: service.url });
});
afterAll(() => service.stop());
beforeEach(() => {
  service.seen.length = 0;
});

const asked = () => service.seen.map(({ method, target, body }) => [`${method} ${target}`, body]);

it('sends beats of many agents in one call', async () => {
  const beats = [{ agentId: 'a', leaseId: 'lease_1', load: { active: 1 } }];
  expect(await client.agents.heartbeats(beats)).toEqual({ results: [], refused: 0 });
  expect(asked()).toEqual([['POST /v1/heartbeats', { beats }]]);
});

it('reports what became of work', async () => {
  expect(await client.agents.report('a', { outcome: 'timeout', requestId: 'r' })).toMatchObject({ state: 'suspect' });
  expect(asked()).toEqual([['POST /v1/agents/a/report', { outcome: 'timeout', requestId: 'r' }]]);
});

it('fences off and drains, as an operator or with the lease of the agent', async () => {
  await client.agents.cordon('a', 'disk');
  await client.agents.uncordon('a');
  await client.agents.drain('a');
  await client.agents.drain('a', { drainTimeoutMs: 5 }, 'lease_1');
  await client.agents.endDrain('a');
  expect(asked()).toEqual([
    ['POST /v1/agents/a/cordon', { reason: 'disk' }],
    ['DELETE /v1/agents/a/cordon', undefined],
    ['POST /v1/agents/a/drain', {}],
    ['POST /v1/agents/a/drain', { drainTimeoutMs: 5 }],
    ['DELETE /v1/agents/a/drain', undefined],
  ]);
  expect(service.seen.map(({ headers }) => headers['agent-lease'])).toEqual([
    undefined,
    undefined,
    undefined,
    'lease_1',
    undefined,
  ]);
});

it('tells a forgotten lease by its code', async () => {
  await expect(client.agents.heartbeat('a', { leaseId: 'lease_1' })).rejects.toMatchObject({
    code: 'AR_ERR_LEASE_FORGOTTEN',
  });
});
