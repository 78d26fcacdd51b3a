/** A service over a stored registry: start, memory, growth with size, a rebuild under load, a bulk registration. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningChild, startBuiltService } from '../child.ts';
import { load, post } from '../http-load.ts';
import { openLoop } from '../open-loop.ts';
import { memoryOf, type ServiceMemory } from '../process-memory.ts';
import { type BenchCase, type Finding, isQuick, shown } from '../report.ts';
import { writeStoredRegistry } from '../stored-registry.ts';
import { request } from '../texts.ts';
import { withEmbedder } from './routes-http.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SCALE = isQuick ? [100, 1_000] : [100, 1_000, 10_000, 100_000];
const START_COUNT = isQuick ? 500 : 5_000;
const LARGE_COUNT = isQuick ? 1_000 : 10_000;
const BULK_COUNT = isQuick ? 500 : 5_000;
const BULK_AN_AGENT = 50;
let nextText = 20_000_000;
const freshBody = (): string => JSON.stringify({ intent: request(nextText++) });

interface StoredService {
  readonly service: RunningChild;
  readonly readyMs: number;
  readonly buildMs: number;
}

/** Started twice: the first start builds the index version, the second loads it and is what is measured. */
async function withStored<T>(count: number, run: (stored: StoredService) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-stored-'));
  const env = { AGENT_REACH_INDEX_REBUILD_DEBOUNCE_MS: '0', AGENT_REACH_INDEX_REBUILD_MAX_WAIT_MS: '0' };
  try {
    await writeStoredRegistry(dataDir, count);
    const first = await startBuiltService(env, dataDir);
    const start = performance.now();
    const { status, text } = await post(`${first.url}/v1/index/rebuild`, '{}');
    if (status !== 200) throw new Error(text);
    const buildMs = performance.now() - start;
    await first.stop();
    const restart = performance.now();
    const service = await startBuiltService(env, dataDir);
    try {
      return await run({ service, readyMs: performance.now() - restart, buildMs });
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function embeddedTexts(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^agent_reach_embedding_batch_texts_sum (\d+)/m.exec(text)?.[1] ?? 0);
}

export const startCase: BenchCase = {
  name: 'start and memory',
  async run() {
    const start = await withStored(START_COUNT, async ({ service, readyMs }): Promise<Finding> => {
      const embedded = await embeddedTexts(service.url);
      return {
        what: `start to ready, ${inWords(START_COUNT)} stored capabilities`,
        measured: `${shown(readyMs / 1_000)} s, ${embedded} texts embedded`,
        target: '<= 3 s, nothing embedded',
        isMet: readyMs <= 3_000 && embedded === 0,
        note: 'process start, model load and warm-up included',
        figures: { readyMs, embedded },
      };
    });
    const memory = await withStored(LARGE_COUNT, async ({ service }): Promise<Finding> => {
      await load({ url: `${service.url}/v1/route`, concurrency: 8, requests: 500, body: freshBody });
      const { serviceMb, modelMb } = settledMemory(service);
      const total = serviceMb + modelMb;
      return {
        what: `resident memory, ${inWords(LARGE_COUNT)} capabilities, after 500 cold routes`,
        measured: `${shown(total)} MB`,
        target: '<= 400 MB',
        isMet: total <= 400,
        note: `service ${shown(serviceMb)} MB, model process ${shown(modelMb)} MB`,
        figures: { serviceMb, modelMb, total },
      };
    });
    return [start, memory];
  },
};

function settledMemory(service: RunningChild): ServiceMemory {
  return memoryOf(service.process.pid ?? 0);
}

export const scaleCase: BenchCase = {
  name: 'cost as work grows',
  async run() {
    const findings: Finding[] = [];
    for (const count of SCALE) {
      findings.push(
        await withStored(count, (stored) => atSize(count, stored)).catch((error) => lostSize(count, error)),
      );
    }
    return findings;
  },
};

/** A size that fails takes none of the others away. */
function lostSize(count: number, error: unknown): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  const what = `${inWords(count)} capabilities`;
  return { what, measured: 'failed', target: 'runs', isMet: false, note: reason, figures: {} };
}

function inWords(count: number): string {
  return count.toLocaleString('en');
}

async function atSize(count: number, { service, readyMs, buildMs }: StoredService): Promise<Finding> {
  const url = `${service.url}/v1/route`;
  await load({ url, concurrency: 1, requests: 30, body: freshBody });
  const cold = await load({ url, concurrency: 1, requests: 200, body: freshBody });
  const hot = freshBody();
  const hit = await load({ url, concurrency: 1, requests: 2_000, body: () => hot });
  const { serviceMb, modelMb } = settledMemory(service);
  return {
    what: `${inWords(count)} capabilities`,
    measured: `cold p50 ${shown(cold.p50Ms)} ms, p99 ${shown(cold.p99Ms)} ms; hit p50 ${shown(hit.p50Ms)} ms`,
    target: '',
    isMet: null,
    note: `build of made-up clustered vectors ${shown(buildMs / 1_000)} s, start ${shown(readyMs / 1_000)} s, service ${shown(serviceMb)} MB, model ${shown(modelMb)} MB`,
    figures: {
      coldP50Ms: cold.p50Ms,
      coldP99Ms: cold.p99Ms,
      hitP50Ms: hit.p50Ms,
      buildMs,
      readyMs,
      serviceMb,
      modelMb,
    },
  };
}

export const rebuildCase: BenchCase = {
  name: 'rebuild under load',
  run: () =>
    withStored(LARGE_COUNT, async ({ service }) => {
      const url = `${service.url}/v1/route`;
      const hot = Array.from({ length: 100 }, () => freshBody());
      for (const body of hot) await post(url, body);
      let n = 0;
      const body = (): string => (n++ % 4 === 0 ? freshBody() : (hot[n % hot.length] ?? ''));
      const plan = { url, perSecond: 200, seconds: 8, body };
      await openLoop({ ...plan, seconds: 3 });
      const quiet = await openLoop(plan);
      const [loaded, rebuilt] = await Promise.all([openLoop(plan), post(`${service.url}/v1/index/rebuild`, '{}')]);
      const ratio = loaded.p99Ms / quiet.p99Ms;
      return [
        {
          what: `rebuild of ${inWords(LARGE_COUNT)} while 200 routes/s run: p99 / quiet p99; failed`,
          measured: `${shown(ratio)}; ${loaded.failed + (rebuilt.status === 200 ? 0 : 1)}`,
          target: '<= 2; 0',
          isMet: ratio <= 2 && loaded.failed === 0 && rebuilt.status === 200,
          note: `p99 ${shown(quiet.p99Ms)} ms quiet, ${shown(loaded.p99Ms)} ms during, longest ${shown(loaded.maxMs)} ms; a quarter of the routes cold`,
          figures: { ratio, quietP99Ms: quiet.p99Ms, loadedP99Ms: loaded.p99Ms, failed: loaded.failed },
        },
      ];
    }),
};

export const registrationCase: BenchCase = {
  name: 'bulk registration',
  async run() {
    // Both before and after, and of texts like those that are registered: the machine may slow down meanwhile.
    const before = await documentRate(0);
    const folder = mkdtempSync(join(tmpdir(), 'agent-reach-register-'));
    const file = join(folder, 'agents.json');
    writeFileSync(file, JSON.stringify(bulkAgents()));
    const service = await startBuiltService();
    const start = performance.now();
    await register(service.url, file);
    const seconds = (performance.now() - start) / 1_000;
    // Some of the made-up descriptions are equal, and nothing is embedded twice.
    const texts = await embeddedTexts(service.url);
    await service.stop();
    rmSync(folder, { recursive: true });
    const own = (before + (await documentRate(1))) / 2;
    const perSecond = texts / seconds;
    const share = perSecond / own;
    return [
      {
        what: `${inWords(BULK_COUNT)} capabilities from a file: texts a second / embedder's own`,
        measured: shown(share),
        target: '>= 0.80',
        isMet: share >= 0.8,
        note: `${texts} texts (names and descriptions) in ${shown(seconds)} s: ${shown(perSecond)}/s, embedder alone ${shown(own)} before and after`,
        figures: { share, perSecond, own },
      },
    ];
  },
};

const bulkText = (i: number): string => request(30_000_000 + i);
const bulkName = (i: number): string => `bulk.run.task_${i}`;

function bulkAgents(): unknown[] {
  return Array.from({ length: BULK_COUNT / BULK_AN_AGENT }, (_, agent) => ({
    agentId: `bulk-${agent}`,
    transport: { type: 'local' },
    capabilities: Array.from({ length: BULK_AN_AGENT }, (__, k) => {
      const i = agent * BULK_AN_AGENT + k;
      return { name: bulkName(i), description: bulkText(i) };
    }),
  }));
}

function documentRate(round: number): Promise<number> {
  return withEmbedder(async (embedder) => {
    const texts = Array.from({ length: isQuick ? 160 : 1_200 }, (_, k) => {
      const i = 900_000 + round * 100_000 + k;
      return k % 2 === 0 ? bulkText(i) : bulkName(i).replace(/[._]/g, ' ');
    });
    const start = performance.now();
    for (let i = 0; i < texts.length; i += 16) await embedder.embed(texts.slice(i, i + 16), { kind: 'document' });
    return texts.length / ((performance.now() - start) / 1_000);
  });
}

function register(url: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const args = ['dist/cli/main.js', '--url', url, '--timeout-ms', '0', 'register', file];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`register ended with ${code}`))));
  });
}
