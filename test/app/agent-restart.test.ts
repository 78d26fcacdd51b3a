/** The service dies by kill -9 with its agents registered, and comes back when three in ten of them are dead. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { call, registration } from './client.ts';
import { type HashService, startHashService } from './hash-service.ts';

const AGENTS = 1_000;
const DEAD = 300;
const INTERVAL_MS = 1_000;
const CAPABILITIES = 20;
const dir = mkdtempSync(join(tmpdir(), 'agent-reach-agents-'));
const running: HashService[] = [];

afterAll(() => {
  for (const { child } of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

async function start(registry: object): Promise<HashService> {
  const index = { rebuildDebounceMs: 0, rebuildMaxWaitMs: 0 };
  const service = await startHashService({ data: { dir }, registry, index });
  running.push(service);
  return service;
}

interface Held {
  readonly agentId: string;
  readonly leaseId: string;
}

async function registerAll(url: string): Promise<Held[]> {
  const held: Held[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < AGENTS) {
      const i = next++;
      const more = { heartbeatIntervalMs: INTERVAL_MS };
      const sent = registration(`agent-${i}`, [`run.any.task_${i % CAPABILITIES}`], more);
      const { status, body } = await call(url, 'POST', '/v1/agents', sent);
      expect(status).toBe(201);
      held.push({ agentId: body.agentId, leaseId: body.leaseId });
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  return held;
}

const offlineIds = async (url: string): Promise<string[]> => {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await call(url, 'GET', `/v1/agents?state=offline&limit=500${cursor}`);
    ids.push(...body.items.map((one: Held) => one.agentId));
    if (body.nextCursor === null) return ids;
    cursor = `&cursor=${body.nextCursor}`;
  }
};

it('loses no agent, spares those who fall silent together, lets them go, and routes to none of them then', async () => {
  // Nobody beats before the kill, and nobody is to be dead by then.
  const first = await start({ missedBeats: 100 });
  const held = await registerAll(first.url);
  first.child.kill('SIGKILL');
  await first.died;
  const { url } = await start({ preserveMs: 2_000 });
  const living = held.filter(({ agentId }) => Number(agentId.slice('agent-'.length)) >= DEAD);
  let refused = 0;
  let isSparing = false;
  const gone = async (): Promise<number> => {
    const { body } = await call(url, 'POST', '/v1/heartbeats', { beats: living });
    refused += body.refused;
    isSparing ||= body.registry?.preserving === true;
    return (await offlineIds(url)).filter((id) => Number(id.slice('agent-'.length)) < DEAD).length;
  };
  await expect.poll(gone, { timeout: 60_000, interval: INTERVAL_MS / 10 }).toBe(DEAD);
  expect([refused, isSparing]).toEqual([0, true]);
  const offline = await offlineIds(url);
  expect(offline.length).toBe(DEAD);
  const dead = new Set(offline);
  for (let i = 0; i < 10 * CAPABILITIES; i++) {
    if (i % 10 === 0) await call(url, 'POST', '/v1/heartbeats', { beats: living });
    const { body } = await call(url, 'POST', '/v1/route', { capability: `run.any.task_${i % CAPABILITIES}` });
    expect(body.decision).toBe('route');
    expect(dead.has(body.agent.agentId)).toBe(false);
  }
  expect((await call(url, 'GET', '/healthz')).body.registry).toEqual({ preserving: false });
}, 90_000);
