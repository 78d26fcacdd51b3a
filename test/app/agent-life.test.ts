/** Agents as real processes: killed, stopped, started twice, forgotten. What routes answer meanwhile is the proof. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { call } from './client.ts';
import { type InMemoryService, startInMemoryService } from './in-memory-service.ts';

const SCRIPT = fileURLToPath(new URL('./agent-process.mjs', import.meta.url));
const INTERVAL_MS = 200;
const CAPABILITY = 'weather.query.city';

let running: InMemoryService;
const children: ChildProcess[] = [];

beforeAll(async () => {
  running = await startInMemoryService();
});
afterAll(() => running.stop());
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  const { items } = (await call(running.url, 'GET', '/v1/agents')).body;
  for (const { agentId } of items) await call(running.url, 'DELETE', `/v1/agents/${agentId}`);
});

interface AgentProcess {
  readonly child: ChildProcess;
  /** Resolves with the first line that begins so. */
  said(start: string): Promise<string>;
}

async function startAgent(agentId: string): Promise<AgentProcess> {
  const args = [SCRIPT, running.url, agentId, String(INTERVAL_MS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const wake of waiting) wake();
  });
  const said = (start: string): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const at = lines.findIndex((line) => line.startsWith(start));
        if (at < 0) return;
        waiting.delete(look);
        resolve(lines.splice(at, 1)[0] ?? '');
      };
      waiting.add(look);
      look();
    });
  await said('registered');
  return { child, said };
}

const agentOf = async (agentId: string) => (await call(running.url, 'GET', `/v1/agents/${agentId}`)).body;

interface Answered {
  readonly agentId: string | null;
  /** State of the watched agent, read in this process in the same turn before the route was asked for. */
  readonly stateBefore: string;
}

/** Routes one after another until the agent is in this state; answers whom each reached. */
async function routeUntil(agentId: string, state: string, most = 20_000): Promise<Answered[]> {
  const answered: Answered[] = [];
  const { registry } = running.service.parts;
  for (let i = 0; i < most; i++) {
    const stateBefore = registry.get(agentId).state;
    const { body } = await call(running.url, 'POST', '/v1/route', { capability: CAPABILITY });
    answered.push({ agentId: body.agent?.agentId ?? null, stateBefore });
    if (stateBefore === state) return answered;
  }
  throw new Error(`${agentId} never was ${state}: ${JSON.stringify(await agentOf(agentId))}`);
}

/** Routes that reached the agent although it was known to be gone. */
const wrong = (answered: readonly Answered[], agentId: string): Answered[] =>
  answered.filter((one) => one.agentId === agentId && one.stateBefore === 'offline');

async function routeUntilReached(agentId: string): Promise<void> {
  for (let i = 0; i < 2_000; i++) if ((await routesAfter(1))[0] === agentId) return;
  throw new Error(`${agentId} was not reached by 2,000 routes`);
}

async function routesAfter(count: number): Promise<string[]> {
  const reached: string[] = [];
  for (let i = 0; i < count; i++) {
    const { body } = await call(running.url, 'POST', '/v1/route', { capability: CAPABILITY });
    reached.push(body.agent?.agentId);
  }
  return reached;
}

it('stops routing to an agent that was killed, and never routes to it once it is known dead', async () => {
  const agents = await Promise.all(['a', 'b', 'c'].map(startAgent));
  await routeUntilReached('a');
  agents[0]?.child.kill('SIGKILL');
  const answered = await routeUntil('a', 'offline');
  expect(wrong(answered, 'a')).toEqual([]);
  // Suspect counts half: beside agents that are well nobody was sent there any more.
  const last = answered.findLastIndex((one) => one.agentId === 'a');
  expect(answered.slice(last + 1).some((one) => one.stateBefore === 'suspect')).toBe(true);
  const reached = await routesAfter(50);
  expect(reached.filter((agentId) => agentId !== 'b' && agentId !== 'c')).toEqual([]);
  expect(await agentOf('a')).toMatchObject({ state: 'offline', stateReason: 'probe_failed' });
});

it('stops routing to an agent whose packets go nowhere, and starts again when it is back', async () => {
  const [a] = await Promise.all(['a', 'b'].map(startAgent));
  a?.child.kill('SIGSTOP');
  const answered = await routeUntil('a', 'offline');
  expect(wrong(answered, 'a')).toEqual([]);
  expect(new Set(await routesAfter(20))).toEqual(new Set(['b']));
  a?.child.kill('SIGCONT');
  await routeUntil('a', 'online');
  expect(await agentOf('a')).toMatchObject({ incarnation: 1, stateReason: 'beat' });
});

it('lets a new start of an agent take over from the old one, which is told so', async () => {
  const old = await startAgent('a');
  const young = await startAgent('a');
  await old.said('taken over');
  expect(await agentOf('a')).toMatchObject({ state: 'online', incarnation: 2 });
  young.child.kill('SIGKILL');
  await routeUntil('a', 'offline');
});

it('has an agent whose lease was forgotten register again by itself', async () => {
  const a = await startAgent('a');
  expect((await call(running.url, 'DELETE', '/v1/agents/a')).status).toBe(204);
  expect(await a.said('registered')).toBe('registered 1');
  expect(await routesAfter(3)).toEqual(['a', 'a', 'a']);
});

it("keeps an operator's fence around an agent that starts again and again", async () => {
  await startAgent('a');
  expect((await call(running.url, 'POST', '/v1/agents/a/cordon', { reason: 'test' })).status).toBe(200);
  await startAgent('a');
  const { body } = await call(running.url, 'POST', '/v1/route', { capability: CAPABILITY, explain: true });
  expect(body).toMatchObject({ decision: 'no_match', reason: 'no_agent_available' });
  expect(body.explain.dropped).toMatchObject([{ agentId: 'a', reason: 'cordoned' }]);
  expect((await call(running.url, 'DELETE', '/v1/agents/a/cordon')).body).toMatchObject({ state: 'online' });
  expect(await routesAfter(1)).toEqual(['a']);
});

it('refuses an endpoint that leads into a network that may not be asked', async () => {
  const bad = (healthEndpoint: string) =>
    call(running.url, 'POST', '/v1/agents', {
      agentId: 'bad',
      capabilities: [CAPABILITY],
      transport: { type: 'http', endpoint: 'http://agent.example', healthEndpoint },
    });
  for (const url of [
    'http://10.0.0.1/',
    'http://169.254.169.254/latest',
    'http://[::ffff:192.168.0.1]/',
    'http://0.0.0.0/',
  ]) {
    expect(await bad(url), url).toMatchObject({
      status: 400,
      body: { code: 'AR_ERR_INVALID_ENDPOINT', issues: [{ path: 'transport.healthEndpoint' }] },
    });
  }
  for (const url of ['http://0x7f.1/', 'http://2130706433/', 'http://0177.0.0.1/']) {
    expect((await bad(url)).body.code, url).toBe('AR_ERR_INVALID_ENDPOINT');
  }
  expect((await bad('http://localhost:1/')).status).toBe(201);
});
