/** Strategies in the whole service: over HTTP, from a real file that changes, and while routes go on. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { decidingFolders } from '../../src/app/file-watch.ts';
import { compileConfig, startService } from '../../src/app/index.ts';
import type { RouteReply, StrategiesReply } from '../../src/contract/index.ts';
import { type DiagnosticEvents, nextTurn, subscribe } from '../../src/core/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { MemoryStore } from '../../src/storage/index.ts';
import { registration } from './client.ts';

type Told = DiagnosticEvents['strategies.reloaded'];

const root = mkdtempSync(join(tmpdir(), 'agent-reach-strategies-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
function freshFolder(): string {
  folders += 1;
  const folder = join(root, String(folders));
  mkdirSync(folder);
  return folder;
}

const queueLoad = (value: number): string => `default: {queueLoad: ${value}}\n`;

async function serve(strategiesFile: string | null, store = new MemoryStore()) {
  const config = compileConfig({
    http: { port: 0 },
    data: { dir: freshFolder() },
    log: { level: 'silent' },
    index: { rebuildDebounceMs: 0, rebuildMaxWaitMs: 0 },
    routing: { strategiesFile },
  });
  const service = await startService(config, { store, embedder: new HashEmbedder() });
  onTestFinished(() => service.stop());
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, etag: response.headers.get('etag'), json: (await response.json()) as never };
  };
  const show = async (): Promise<StrategiesReply> => (await send('GET', '/v1/strategies')).json;
  return { service, send, show };
}

/** The next reload that is told after this call, and is not another one of before. */
function nextReload(wanted: (told: Told) => boolean = () => true): Promise<Told> {
  return new Promise((resolve) => {
    const stop = subscribe('strategies.reloaded', (told) => {
      if (!wanted(told)) return;
      stop();
      resolve(told);
    });
  });
}

describe('a strategies file', () => {
  it.each([
    ['written in place', (file: string, text: string) => writeFileSync(file, text)],
    [
      'renamed over, as editors do',
      (file: string, text: string) => {
        writeFileSync(`${file}.swp`, text);
        renameSync(`${file}.swp`, file);
      },
    ],
    [
      'deleted and written again',
      (file: string, text: string) => {
        rmSync(file);
        writeFileSync(file, text);
      },
    ],
  ])('is read again when it is %s', async (_, change) => {
    const file = join(freshFolder(), 'strategies.yaml');
    writeFileSync(file, queueLoad(0.5));
    const { show } = await serve(file);
    expect((await show()).effective.default.queueLoad).toBe(0.5);
    for (const value of [0.6, 0.7]) {
      const told = nextReload(({ result }) => result === 'applied');
      change(file, queueLoad(value));
      expect(await told).toMatchObject({ why: 'watch', source: 'file' });
      expect((await show()).effective.default.queueLoad).toBe(value);
    }
  });

  it('is read again when the symlink of a Kubernetes volume is swapped', async () => {
    const mount = freshFolder();
    const fill = (version: string, value: number): void => {
      mkdirSync(join(mount, version));
      writeFileSync(join(mount, version, 'strategies.yaml'), queueLoad(value));
      symlinkSync(version, join(mount, '..data_tmp'));
      renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    };
    fill('..2026_01', 0.5);
    symlinkSync(join('..data', 'strategies.yaml'), join(mount, 'strategies.yaml'));
    const { show } = await serve(join(mount, 'strategies.yaml'));
    for (const [i, value] of [0.6, 0.7].entries()) {
      const told = nextReload(({ result }) => result === 'applied');
      fill(`..2026_1${i}`, value);
      await told;
      expect((await show()).effective.default.queueLoad).toBe(value);
    }
  });

  it('is watched wherever a symlink decides what its path leads to', () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'release-1'));
    mkdirSync(join(folder, 'etc'));
    writeFileSync(join(folder, 'release-1', 's.yaml'), '{}');
    symlinkSync('release-1', join(folder, 'current'));
    symlinkSync(join('..', 'current', 's.yaml'), join(folder, 'etc', 's.yaml'));
    const found = [...decidingFolders(join(folder, 'etc', 's.yaml'))];
    expect(found).toEqual([join(folder, 'etc'), folder, join(folder, 'release-1')]);
    symlinkSync('loop', join(folder, 'loop'));
    expect([...decidingFolders(join(folder, 'loop'))]).toEqual([folder]);
    expect([...decidingFolders(join(folder, 'none', 'deep', 's.yaml'))]).toEqual([folder]);
  });

  it.each([
    ['for all', { default: { strategies: ['canary'] } }],
    ['for a capability', { capabilities: { 'weather.query.city': { strategies: ['canary', 'best'] } } }],
  ])(
    'that names a canary of nobody %s is refused on reload and over the API, and the old one stays',
    async (_, bad) => {
      const file = join(freshFolder(), 'strategies.yaml');
      writeFileSync(file, queueLoad(0.5));
      const { send, show } = await serve(file);
      const before = (await show()).strategiesVersion;
      writeFileSync(file, JSON.stringify(bad));
      for (const refused of [await send('POST', '/v1/strategies/reload'), await send('PUT', '/v1/strategies', bad)]) {
        expect(refused).toMatchObject({ status: 400, json: { code: 'AR_ERR_INVALID_STRATEGIES' } });
      }
      expect(await show()).toMatchObject({ strategiesVersion: before, source: 'file', api: null });
    },
  );

  it('that is bad is refused, counted and told, and the old one stays', async () => {
    const file = join(freshFolder(), 'strategies.yaml');
    writeFileSync(file, queueLoad(0.5));
    const { service, send, show } = await serve(file);
    const refused = nextReload(({ result }) => result === 'refused');
    writeFileSync(file, 'default:\n  weights: {relevance: 0.5, lod: 0.5}\n');
    expect((await refused).reason).toContain('did you mean "load"? (line 2)');
    const shown = await show();
    expect(shown.effective.default.queueLoad).toBe(0.5);
    expect(shown.file?.problem).toContain('line 2');
    const asked = await send('POST', '/v1/strategies/reload');
    expect(asked.status).toBe(400);
    expect(asked.json).toMatchObject({
      code: 'AR_ERR_INVALID_STRATEGIES',
      issues: [{ path: 'default.weights.lod' }],
      suggestions: ['load'],
    });
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('agent_reach_strategies_reload_total{result="refused"} 2');
    expect(metrics).toContain(`agent_reach_strategies_info{version="${shown.strategiesVersion}",source="file"} 1`);
  });

  it('that is bad or missing lets nothing start', async () => {
    const file = join(freshFolder(), 'strategies.yaml');
    await expect(serve(file)).rejects.toMatchObject({ code: 'AR_ERR_INVALID_STRATEGIES' });
    writeFileSync(file, 'default: {queueLoad: 2}\n');
    await expect(serve(file)).rejects.toThrow('default.queueLoad: must be at most 1 (line 1)');
  });
});

describe('strategies over HTTP', () => {
  it('go before the file, survive a restart, and are guarded by If-Match', async () => {
    const file = join(freshFolder(), 'strategies.yaml');
    writeFileSync(file, queueLoad(0.5));
    const store = new MemoryStore();
    const close = store.close.bind(store);
    store.close = async () => undefined;
    onTestFinished(close);
    const first = await serve(file, store);
    const { etag, json } = await first.send('GET', '/v1/strategies');
    expect(etag).toBe(`"${(json as StrategiesReply).strategiesVersion}"`);
    const document = { default: { queueLoad: 0.6 } };
    const put = await first.send('PUT', '/v1/strategies', document, { 'if-match': etag ?? '' });
    expect(put.json).toMatchObject({ source: 'api', effective: { default: { queueLoad: 0.6 } } });
    const stale = await first.send('PUT', '/v1/strategies', document, { 'if-match': etag ?? '' });
    expect([stale.status, (stale.json as { code: string }).code]).toEqual([409, 'AR_ERR_STRATEGIES_CONFLICT']);
    const bad = await first.send('PUT', '/v1/strategies', document, { 'if-match': '"no version"' });
    expect(bad.json).toMatchObject({ code: 'AR_ERR_INVALID_REQUEST', issues: [{ path: 'headers.If-Match' }] });
    const flawed = await first.send('PUT', '/v1/strategies', { default: { strategies: ['bets'] } });
    expect(flawed.json).toMatchObject({ code: 'AR_ERR_INVALID_STRATEGIES', suggestions: ['best'] });
    await first.service.stop();
    const second = await serve(file, store);
    expect(await second.show()).toMatchObject({ source: 'api', effective: { default: { queueLoad: 0.6 } } });
    expect((await second.send('POST', '/v1/strategies/reload')).json).toMatchObject({
      result: 'shadowed',
      source: 'api',
    });
    const cleared = await second.send('DELETE', '/v1/strategies');
    expect(cleared.json).toMatchObject({ source: 'file', effective: { default: { queueLoad: 0.5 } } });
  });

  it('change the next answer, which says whose they are', async () => {
    const { send } = await serve(null);
    const capability = 'weather.query.city';
    for (const [agentId, track] of [
      ['old', 'main'],
      ['new', 'next'],
    ] as const) {
      await send('POST', '/v1/agents', registration(agentId, [{ name: capability }], { tags: { track } }));
    }
    const route = async (): Promise<RouteReply> =>
      (await send('POST', '/v1/route', { capability, explain: true })).json;
    const before = await route();
    expect(before.explain).toMatchObject({ policy: 'default', strategies: [{ name: 'best', kept: 1 }] });
    const canary = { name: 'canary', tag: 'track', value: 'next', share: 1 };
    const put = await send('PUT', '/v1/strategies', {
      capabilities: { 'weather.*': { strategies: [canary], weights: { load: 1 } } },
    });
    const after = await route();
    expect(after.agent?.agentId).toBe('new');
    expect(after.strategiesVersion).toBe((put.json as StrategiesReply).strategiesVersion);
    expect(after.strategiesVersion).not.toBe(before.strategiesVersion);
    expect(after.explain).toMatchObject({ policy: 'weather.*', weights: { load: 1 } });
    expect(after.explain?.strategies[0]).toEqual({
      name: 'canary',
      note: 'in the canary share of 1',
      kept: 1,
      dropped: ['old'],
    });
  });
});

describe('one answer', () => {
  it('is of one version throughout, also a batch, while strategies are reloaded in a loop', async () => {
    const { service, send } = await serve(null);
    const { strategies, router } = service.parts;
    const capability = 'weather.query.city';
    await send('POST', '/v1/agents', registration('a', [{ name: capability, description: 'weather of a city' }]));
    // Each version is known by its weight: an answer that mixed two would show the weight of one and the name of another.
    const weightOf = new Map<string, number>();
    let isOver = false;
    const reloads = (async () => {
      for (let i = 0; !isOver; i++) {
        const load = (i % 50) / 100;
        const { strategiesVersion } = await strategies.put(
          { default: { weights: { relevance: 1 - load, load } } },
          { by: 'loop' },
        );
        weightOf.set(strategiesVersion, load);
        // The store in memory answers at once: without a turn of the event loop no route would go on.
        await nextTurn();
      }
    })();
    const requests = Array.from({ length: 48 }, (_, i) => ({
      intent: `weather of city ${i}`,
      namespace: 'default',
      priority: 5,
      explain: i % 6 === 0,
    }));
    const caller = { requestId: 'req_loop', scopes: new Set(['*']) };
    const batches: RouteReply[][] = [];
    while (weightOf.size < 20) batches.push(await router.routeBatch(requests, caller));
    isOver = true;
    await reloads;
    const versions = batches.map((replies) => new Set(replies.map((reply) => reply.strategiesVersion)));
    for (const seen of versions) expect(seen.size).toBe(1);
    expect(new Set(versions.flatMap((seen) => [...seen])).size).toBeGreaterThan(1);
    for (const { strategiesVersion, explain } of batches.flat()) {
      const load = weightOf.get(strategiesVersion);
      if (explain === undefined || load === undefined) continue;
      expect(explain.weights.load).toBeCloseTo(load, 9);
    }
  }, 20_000);
});
