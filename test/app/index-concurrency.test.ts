import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileConfig, type RunningService, startService } from '../../src/app/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { ask, call, registration } from './client.ts';

const ROUTES = 200;
const REBUILDS = 5;
const CHANGES = 300;
const WORDS = ['harbour', 'violin', 'glacier', 'invoice', 'meadow', 'lantern', 'turbine', 'orchid', 'saddle', 'quartz'];

/** Three words that no other number has. */
function phraseOf(i: number): string {
  return `${WORDS[i % 10]} ${WORDS[Math.floor(i / 10) % 10]} ${WORDS[(i * 7 + 3) % 10]} number${i}`;
}
const steady = (i: number) => ({ name: `steady.find.thing_${i}`, description: phraseOf(i) });
const passing = (i: number) => ({ name: `passing.find.thing_${i}`, description: `passing ${phraseOf(1_000 + i)}` });

let dir: string;
let service: RunningService;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agent-reach-concurrency-'));
  const embedder = new HashEmbedder();
  // Low enough for a hash embedder, which knows words only.
  const routing = { minRelevance: 0.01, cacheEntries: 0 };
  const config = compileConfig({ http: { port: 0 }, data: { dir }, log: { level: 'silent' }, routing });
  service = await startService(config, { embedder });
  const agents = Array.from({ length: 400 }, (_, i) => registration(`steady-${i}`, [steady(i)]));
  for (let i = 0; i < agents.length; i += 50) {
    await Promise.all(agents.slice(i, i + 50).map((agent) => call(service.url, 'POST', '/v1/agents', agent)));
  }
});
afterAll(async () => {
  await service.stop();
  rmSync(dir, { recursive: true, force: true });
});

describe('routes, rebuilds, registrations and withdrawals at once', () => {
  it('never fail, name one version each, and never answer who has withdrawn', async () => {
    const { url } = service;
    const statuses = new Map<number, number>();
    const note = (status: number): void => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    const withdrawn = new Set<string>();
    const versions = new Set<string>();
    const wrong: string[] = [];
    let isOver = false;

    const routes = Array.from({ length: ROUTES }, async (_, worker) => {
      for (let round = 0; round === 0 || (!isOver && round < 5); round++) {
        const goneBefore = new Set(withdrawn);
        const i = (worker * 13 + round * 101) % 400;
        const isPassing = worker % 4 === 3;
        const { status, body } = await ask(url, isPassing ? `passing ${phraseOf(1_000 + (i % 150))}` : phraseOf(i));
        note(status);
        versions.add(body.indexVersion);
        expect(body.indexVersion).toMatch(/^v\d{6}$/);
        if (goneBefore.has(body.agent?.agentId)) wrong.push(`${body.agent.agentId} was answered after it left`);
        if (!isPassing && body.capability !== steady(i).name) wrong.push(`${phraseOf(i)} got ${body.capability}`);
      }
    });
    const changes = Array.from({ length: 10 }, async (_, lane) => {
      for (let n = lane; n < CHANGES / 2; n += 10) {
        const id = `passing-${n}`;
        note((await call(url, 'POST', '/v1/agents', registration(id, [passing(n)]))).status);
        note((await call(url, 'DELETE', `/v1/agents/${id}`)).status);
        withdrawn.add(id);
      }
    });
    const rebuilds = (async () => {
      for (let n = 0; n < REBUILDS; n++) note((await call(url, 'POST', '/v1/index/rebuild')).status);
      isOver = true;
    })();
    await Promise.all([...routes, ...changes, rebuilds]);

    expect([...statuses.keys()].sort()).toEqual([200, 201, 204]);
    expect(statuses.get(204)).toBe(CHANGES / 2);
    expect(withdrawn.size).toBe(CHANGES / 2);
    expect(wrong.filter((text) => text.includes('after it left'))).toEqual([]);
    // The right answer is the exact scan's: the text itself is registered.
    expect(wrong.length).toBeLessThanOrEqual(ROUTES * 0.01);
    expect(versions.size).toBeGreaterThan(1);
    for (let n = 0; n < CHANGES / 2; n += 15) {
      const { body } = await ask(url, `passing ${phraseOf(1_000 + n)}`);
      expect(body.capability).not.toBe(passing(n).name);
    }
  }, 60_000);
});
