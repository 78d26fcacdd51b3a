import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, call, registration } from './client.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

let dataDir: string;
let service: ServiceProcess | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-audit-'));
});
afterEach(async () => {
  await service?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

const NAME = 'account.delete.user';

async function recordsOf(url: string): Promise<{ seq: number; requestId: string; outcome: string }[]> {
  const records = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await call(url, 'GET', `/v1/audit?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    records.push(...body.items);
    if (body.nextCursor === null) return records;
    cursor = body.nextCursor;
  }
}

describe('the audit log of a service that is killed', () => {
  it('holds every sensitive decision that was answered, in order, each once', async () => {
    service = await startServiceProcess(dataDir);
    const { url } = service;
    const agent = registration('account-1', [{ name: NAME, description: 'delete a user account', sensitive: true }]);
    expect((await call(url, 'POST', '/v1/agents', agent)).status).toBe(201);
    const answered = new Set<string>();
    const asking = async (i: number): Promise<void> => {
      const { status, body } = await (i % 3 === 0
        ? ask(url, 'please delete a user account')
        : call(url, 'POST', '/v1/route', { capability: NAME }));
      if (status === 200) answered.add(body.requestId);
      if (answered.size === 60) void service?.kill();
    };
    for (let round = 0; round < 40 && answered.size < 60; round++) {
      await Promise.allSettled(Array.from({ length: 8 }, (_, i) => asking(i)));
    }
    await service.exited;
    expect(answered.size).toBeGreaterThanOrEqual(60);

    service = await startServiceProcess(dataDir);
    const records = await recordsOf(service.url);
    const stored = new Set(records.map(({ requestId }) => requestId));
    expect([...answered].filter((id) => !stored.has(id))).toEqual([]);
    const seqs = records.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => b - a));
    expect(new Set(records.map(({ outcome }) => outcome))).toEqual(new Set(['reached', 'near_miss']));
    await call(service.url, 'POST', '/v1/route', { capability: NAME });
    expect((await recordsOf(service.url))[0]?.seq).toBe((seqs[0] ?? 0) + 1);
  });
});
