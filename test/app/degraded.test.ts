import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileConfig, type RunningService, startService } from '../../src/app/index.ts';
import { subscribe } from '../../src/core/index.ts';
import { ask, call, registration } from './client.ts';

let dataDir: string;
let service: RunningService;
const logs: string[] = [];
let unsubscribe: () => void;

/** Resolves when the model has been told to be in this state, after this call. */
function modelState(wanted: 'ready' | 'degraded'): Promise<void> {
  return new Promise((resolve) => {
    const stop = subscribe('embedding.state', ({ state }) => {
      if (state !== wanted) return;
      stop();
      resolve();
    });
  });
}

/** The process that holds the model: the only child of this one that runs the embedding worker. */
function modelProcess(): number {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  for (const line of list.split('\n')) {
    const [, pid, ppid, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (Number(ppid) === process.pid && args?.includes('embedding-worker')) return Number(pid);
  }
  throw new Error('the model process was not found');
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-degraded-'));
  unsubscribe = subscribe('log', ({ message }) => logs.push(message));
  service = await startService(compileConfig({ http: { port: 0 }, data: { dir: dataDir }, log: { level: 'silent' } }));
  const { url } = service;
  await call(url, 'POST', '/v1/agents', registration('weather-1', [{ name: 'weather.query.city' }]));
  await call(url, 'POST', '/v1/agents', registration('mail-1', [{ name: 'mail.send.message' }]));
});
afterAll(async () => {
  await service.stop();
  unsubscribe();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a model process that is really killed', () => {
  it('leaves routing by words, says so in every answer and in /readyz, and heals by itself', async () => {
    const { url } = service;
    expect((await ask(url, 'will it rain tomorrow')).body).toMatchObject({ matchedBy: 'semantic', degraded: false });

    const degraded = modelState('degraded');
    process.kill(modelProcess(), 'SIGKILL');
    await degraded;
    const healed = modelState('ready');

    const byWords = await ask(url, 'query the weather of some city');
    expect(byWords.status).toBe(200);
    expect(byWords.body).toMatchObject({
      decision: 'route',
      agent: { agentId: 'weather-1' },
      matchedBy: 'lexical',
      degraded: true,
    });
    expect(byWords.body.degradedReason).toMatch(/\w+/);
    expect((await call(url, 'POST', '/v1/route', { capability: 'mail.send.message' })).body).toMatchObject({
      degraded: true,
      matchedBy: 'exact',
    });
    const pending = await call(url, 'POST', '/v1/agents', registration('song-1', [{ name: 'music.play.song' }]));
    expect(pending.status).toBe(201);
    expect(pending.body.warnings).toMatchObject([{ code: 'embedding_pending' }]);
    expect((await call(url, 'GET', '/readyz')).body).toMatchObject({
      ready: true,
      degraded: true,
      checks: { model: { ok: false } },
    });

    await healed;
    await service.parts.indexer.settled();
    expect((await ask(url, '放一首歌听听')).body).toMatchObject({
      agent: { agentId: 'song-1' },
      matchedBy: 'semantic',
      degraded: false,
    });
    expect((await call(url, 'GET', '/readyz')).body).toMatchObject({ ready: true, degraded: false });
  });
});
