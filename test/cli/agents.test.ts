/** What an operator does to one agent from the command line. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { json, type StandIn, startStandIn } from '../sdk/stand-in-service.ts';
import { agentOf } from './replies.ts';
import { runCli } from './run-cli.ts';

const AT = '2026-01-01T00:00:40.000Z';
const CORDON = { by: 'ops', at: AT, reason: 'disk errors\u001b[2J' };
const cordoned = agentOf('weather-1', { state: 'cordoned', stateReason: 'cordoned', revision: 2, cordoned: CORDON });
const draining = agentOf('weather-1', {
  state: 'draining',
  stateReason: 'drain_asked',
  drain: { by: null, at: AT, until: null },
  lastProbe: { answered: false, detail: 'connection refused' },
});

let service: StandIn;

beforeAll(async () => {
  service = await startStandIn({
    'POST /v1/agents/weather-1/cordon': () => json(cordoned),
    'DELETE /v1/agents/weather-1/cordon': () => json(agentOf('weather-1')),
    'POST /v1/agents/weather-1/drain': () => json(draining),
    'DELETE /v1/agents/weather-1/drain': () => json(agentOf('weather-1')),
    'GET /v1/agents/weather-1': () => json(draining),
    'GET /v1/agents/fenced': () => json(cordoned),
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  service.seen.length = 0;
});

const run = (args: readonly string[]) => runCli(['--url', service.url, ...args]);

it.each([
  [['cordon', 'weather-1', '--reason', 'disk'], 'POST /v1/agents/weather-1/cordon', { reason: 'disk' }, 'cordoned'],
  [['uncordon', 'weather-1'], 'DELETE /v1/agents/weather-1/cordon', undefined, 'online'],
  [['drain', 'weather-1'], 'POST /v1/agents/weather-1/drain', {}, 'draining'],
  [['drain', 'weather-1', '--for-ms', '0'], 'POST /v1/agents/weather-1/drain', { drainTimeoutMs: 0 }, 'draining'],
  [['undrain', 'weather-1'], 'DELETE /v1/agents/weather-1/drain', undefined, 'online'],
] as const)('%j asks for it and tells the state', async (args, target, body, state) => {
  const { code, out } = await run(['agents', ...args]);
  expect(code).toBe(0);
  expect(out).toContain(`weather-1: it is ${state}`);
  expect(service.seen.map((request) => `${request.method} ${request.target}`)).toEqual([target]);
  expect(service.seen[0]?.body).toEqual(body);
});

it('asks for a reason before it fences anybody off', async () => {
  const { code, err } = await run(['agents', 'cordon', 'weather-1']);
  expect(code).toBe(2);
  expect(err).toContain('--reason');
  expect(service.seen).toEqual([]);
});

it('shows why an agent is in its state, without repainting the terminal', async () => {
  const { out } = await run(['agents', 'show', 'weather-1']);
  expect(out).toMatch(/state +draining \(drain_asked\)/);
  expect(out).toMatch(/drain +by itself since .*, until it says otherwise/);
  expect(out).toMatch(/last probe +connection refused/);
  const fenced = await run(['agents', 'show', 'fenced']);
  expect(fenced.out).toMatch(/cordoned +by ops at .*: disk errors/);
  expect(fenced.out).not.toContain('\u001b[2J');
});
