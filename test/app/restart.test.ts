import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, call, registration } from './client.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const INTENTS = ['明天杭州会下雨吗', 'send an email to my boss', '我要开发票', 'how do I build a rocket'];

let dataDir: string;
let service: ServiceProcess | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-restart-'));
});
afterEach(async () => {
  await service?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

async function answers(url: string) {
  const seen = [];
  for (const intent of INTENTS) {
    const { body } = await ask(url, intent);
    const { decision, reason, capability, agent, relevance, matchedBy, ruleId } = body;
    seen.push({ intent, decision, reason, capability, agentId: agent?.agentId, relevance, matchedBy, ruleId });
  }
  return seen;
}

async function embeddedTexts(url: string): Promise<number> {
  const { body } = await call(url, 'GET', '/metrics');
  const line = /^agent_reach_embedding_batch_texts_sum(?:\{[^}]*\})? (\d+)/m.exec(body);
  if (line === null) throw new Error('the metric of embedded texts is gone: this test would see nothing');
  return Number(line[1]);
}

describe('a service in a process of its own', () => {
  it('gives the same answers after kill -9, embeds no registered text again, and stops cleanly', async () => {
    service = await startServiceProcess(dataDir);
    let { url } = service;
    const agents = [
      registration('weather-1', [{ name: 'weather.query.city', description: '查询城市天气' }]),
      registration('mail-1', [{ name: 'mail.send.message', description: 'Send an email' }]),
      registration('invoice-1', [{ name: 'finance.issue.invoice', sensitive: true }]),
    ];
    for (const agent of agents) expect((await call(url, 'POST', '/v1/agents', agent)).status).toBe(201);
    const rule = { id: 'invoice', match: 'contains', patterns: ['开发票'], capability: 'finance.issue.invoice' };
    expect((await call(url, 'POST', '/v1/rules', rule)).status).toBe(201);
    const before = await answers(url);
    expect(before.map((answer) => answer.agentId)).toEqual(['weather-1', 'mail-1', 'invoice-1', undefined]);
    expect(await embeddedTexts(url)).toBeGreaterThan(0);
    const leases = await call(url, 'GET', '/v1/agents');
    await service.kill();

    service = await startServiceProcess(dataDir);
    ({ url } = service);
    const embeddedAtStart = await embeddedTexts(url);
    expect(await answers(url)).toEqual(before);
    expect(embeddedAtStart).toBe(0);
    expect((await call(url, 'GET', '/v1/agents')).body.items.map((one: { agentId: string }) => one.agentId)).toEqual(
      leases.body.items.map((one: { agentId: string }) => one.agentId),
    );
    expect((await call(url, 'GET', '/v1/rules')).body.items).toMatchObject([rule]);

    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });

  it('loses no acknowledged registration, withdrawal or rule when killed in the middle of many', async () => {
    service = await startServiceProcess(dataDir);
    const { url } = service;
    const there = new Set<string>();
    const gone = new Set<string>();
    const rules = new Set<string>();
    let count = 0;
    const register = async (i: number): Promise<void> => {
      const agent = registration(`agent-${i}`, [`bulk.run.task_${i % 7}`]);
      if ((await call(url, 'POST', '/v1/agents', agent)).status === 201) there.add(agent.agentId);
      if (++count === 40) void service?.kill();
      if (i % 3 === 0) {
        there.delete(agent.agentId);
        if ((await call(url, 'DELETE', `/v1/agents/${agent.agentId}`)).status === 204) gone.add(agent.agentId);
      }
      if (i % 5 === 0) {
        const rule = { id: `rule-${i}`, match: 'exact', patterns: [`run task ${i}`], capability: 'bulk.run.task_1' };
        if ((await call(url, 'POST', '/v1/rules', rule)).status === 201) rules.add(rule.id);
      }
    };
    await Promise.allSettled(Array.from({ length: 80 }, (_, i) => register(i)));
    await service.exited;
    expect(there.size).toBeGreaterThan(5);

    service = await startServiceProcess(dataDir);
    const listed = (await call(service.url, 'GET', '/v1/agents?limit=500')).body.items as { agentId: string }[];
    const ids = new Set(listed.map((one) => one.agentId));
    expect([...there].filter((id) => !ids.has(id))).toEqual([]);
    expect([...gone].filter((id) => ids.has(id))).toEqual([]);
    const stored = (await call(service.url, 'GET', '/v1/rules')).body.items as { id: string }[];
    const ruleIds = new Set(stored.map((rule) => rule.id));
    expect([...rules].filter((id) => !ruleIds.has(id))).toEqual([]);
  });

  it('refuses a data folder that another process owns, with its code', async () => {
    service = await startServiceProcess(dataDir);
    await expect(startServiceProcess(dataDir)).rejects.toThrow('AR_ERR_STORE_IN_USE');
  });
});
