import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HashEmbedder } from '../../src/embedding/index.ts';
import {
  type BuildProgress,
  type BuildRequest,
  IndexBuilder,
  VersionStore,
  verifyVersion,
} from '../../src/vector-index/index.ts';
import { clusteredRows, randomUnit, rowOf, seededRandom } from './sample-vectors.ts';

const about: BuildRequest['about'] = {
  modelId: 'model-a',
  fingerprint: 'fp-a',
  by: 'service',
  why: 'delta',
  embedded: 3,
  reused: 597,
  removed: 1,
};
const rows = clusteredRows(600, 16, 8);
/** Takes seconds to build, so that there is time to interrupt it. */
const manyRows = (): BuildRequest['rows'] => clusteredRows(8_000, 64, 40);

/** No two of them near: the hardest case for a graph. */
function unrelatedRows(count: number): BuildRequest['rows'] {
  const random = seededRandom(2);
  const vectors = new Float32Array(count * 48);
  for (let i = 0; i < count; i++) vectors.set(randomUnit(48, random), i * 48);
  return { dimensions: 48, ids: Array.from({ length: count }, (_, i) => `id-${i}`), vectors };
}

let dir: string;
let store: VersionStore;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agent-reach-builder-'));
  store = new VersionStore(dir);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Everything on disk, to compare before and after. */
async function contentOf(root: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    content[path] = entry.isFile() ? (await readFile(path)).toString('base64') : 'folder';
  }
  return content;
}

describe('IndexBuilder', () => {
  it('builds, checks and writes a version in its thread, telling how far it is', async () => {
    const progress: BuildProgress[] = [];
    const info = await new IndexBuilder({ dir }).build({ rows, about }, (step) => progress.push(step));
    expect(info).toMatchObject({ ...about, id: 'v000001', kind: 'hnsw', count: 600, dimensions: 16, efSearch: 100 });
    expect(info.selfCheck?.samples).toBe(200);
    expect(info.selfCheck?.recallAt10).toBeGreaterThanOrEqual(0.99);
    expect(info.buildMs).toBeGreaterThan(0);
    const builds = progress.filter((step) => step.phase === 'build');
    expect(builds[0]).toEqual({ phase: 'build', done: 0, total: 600 });
    expect(builds.at(-1)).toEqual({ phase: 'build', done: 600, total: 600 });
    expect(progress.at(-1)).toEqual({ phase: 'write', done: 1, total: 1 });
    const { loaded, refused } = await store.loadNewest({ fingerprint: 'fp-a', dimensions: 16 });
    expect(refused).toEqual([]);
    expect(loaded?.info).toEqual(info);
    expect(loaded?.index.search(rowOf(rows, 5), 1)[0]?.id).toBe('id-5');
    expect(rows.vectors).toHaveLength(9_600);
  });

  it('builds flat, small and empty versions, one after the other', async () => {
    const builder = new IndexBuilder({ dir, keep: 2 });
    const none = { dimensions: 16, ids: [], vectors: new Float32Array(0) };
    const one = { dimensions: 16, ids: ['id-0'], vectors: rowOf(rows, 0) };
    expect(await builder.build({ rows, about, kind: 'flat' })).toMatchObject({ id: 'v000001', kind: 'flat' });
    expect(await builder.build({ rows: none, about })).toMatchObject({ id: 'v000002', count: 0 });
    expect(await builder.build({ rows: one, about })).toMatchObject({ selfCheck: { recallAt10: 1, samples: 1 } });
    expect((await store.list()).map((entry) => entry.info?.id)).toEqual(['v000003', 'v000002']);
  });

  it('takes rows in shared memory without a copy', async () => {
    const shared = new Float32Array(new SharedArrayBuffer(rows.vectors.byteLength));
    shared.set(rows.vectors);
    await new IndexBuilder({ dir }).build({ rows: { ...rows, vectors: shared }, about });
    const { index } = await store.load('v000001');
    expect(index.vectorOf('id-599')).toEqual(rowOf(rows, 599));
  });

  it('widens the beam when the first one recalls too little', async () => {
    const info = await new IndexBuilder({ dir, hnsw: { efSearch: 18 } }).build({ rows: unrelatedRows(1_200), about });
    expect(info.efSearch).toBeGreaterThan(18);
    expect(info.selfCheck?.recallAt10).toBeGreaterThanOrEqual(0.99);
  });

  it('fails the self-check of a graph too thin to find its vectors, and writes nothing', async () => {
    const builder = new IndexBuilder({ dir, hnsw: { m: 2, efConstruction: 2, efSearch: 1 } });
    await expect(builder.build({ rows: unrelatedRows(1_200), about })).rejects.toMatchObject({
      code: 'AR_ERR_INDEX_SELF_CHECK',
      message: expect.stringMatching(/finds \d+\.\d % of the true neighbours/),
    });
    expect(await store.list()).toEqual([]);
  });

  it('finds every text among many that differ in one word, where the graph alone loses some', async () => {
    const embedder = new HashEmbedder();
    await embedder.start();
    const ids = Array.from({ length: 700 }, (_, i) => `steady find thing ${i}`);
    const { dimensions } = embedder.info;
    const vectors = new Float32Array(ids.length * dimensions);
    for (const [i, vector] of (await embedder.embed(ids, { kind: 'document' })).entries()) {
      vectors.set(vector, i * dimensions);
    }
    const info = await new IndexBuilder({ dir }).build({ rows: { dimensions, ids, vectors }, about });
    expect(info.strays?.length).toBeGreaterThan(0);
    const { index } = await store.load(info.id);
    for (const [i, id] of ids.entries()) {
      const own = vectors.slice(i * dimensions, (i + 1) * dimensions);
      const [nearest] = index.search(own, 1);
      expect(nearest?.similarity).toBeGreaterThanOrEqual(index.similarityOf(id, own) ?? 2);
    }
    expect(await verifyVersion({ dir, id: info.id })).toMatchObject({ unreachable: [] });
  });

  it('lets a version count only when it is approved, and forgets it otherwise', async () => {
    const builder = new IndexBuilder({ dir });
    const refusal = new Error('not good enough');
    const refused = builder.build({ rows, about, approve: () => Promise.reject(refusal) });
    await expect(refused).rejects.toBe(refusal);
    expect(await store.list()).toEqual([]);
    expect(await readdir(join(dir, 'versions'))).toEqual([]);
    const catalogue = new TextEncoder().encode('{"a":1}\n');
    const golden = { right: 3, lines: 4 };
    const info = await builder.build({ rows, about, catalogue, approve: async () => ({ golden }) });
    expect((await store.load(info.id)).info.selfCheck).toMatchObject({ golden, reachableShare: 1 });
    expect(Buffer.from((await store.catalogueOf(info.id)) ?? []).toString()).toBe('{"a":1}\n');
  });

  it('refuses bad rows with a code', async () => {
    const builder = new IndexBuilder({ dir });
    const invalid = { code: 'AR_ERR_INVALID_REQUEST' };
    const vectors = rows.vectors.slice();
    vectors[1_000] = Number.NaN;
    await expect(builder.build({ rows: { ...rows, vectors }, about })).rejects.toMatchObject(invalid);
    await expect(builder.build({ rows: { ...rows, ids: rows.ids.slice(1) }, about })).rejects.toMatchObject(invalid);
    const kind = 'flat' as const;
    await expect(builder.build({ rows: { ...rows, vectors }, about, kind })).rejects.toMatchObject(invalid);
    expect(await store.list()).toEqual([]);
  });

  it('says so when the disk refuses', async () => {
    await writeFile(join(dir, 'versions'), 'a file where the folder should be');
    const building = new IndexBuilder({ dir }).build({ rows, about });
    await expect(building).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
  });
});

describe('an interrupted build', () => {
  it.each(['stop', 'abort'] as const)(
    'leaves no half version and the old one untouched: %s in the middle',
    async (how) => {
      const builder = new IndexBuilder({ dir });
      await builder.build({ rows, about });
      const before = await contentOf(dir);
      const abort = new AbortController();
      const stops: Promise<void>[] = [];
      let built = 0;
      const building = builder.build({ rows: manyRows(), about, signal: abort.signal }, ({ done }) => {
        if (done === 0) return;
        built = done;
        if (how === 'stop') stops.push(builder.stop());
        else abort.abort();
      });
      await expect(building).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
      await Promise.all(stops);
      expect(built).toBeLessThan(4_000);
      expect(await contentOf(dir)).toEqual(before);
    },
  );

  it('ends with a whole version or none when it is aborted while it writes', async () => {
    const abort = new AbortController();
    const building = new IndexBuilder({ dir }).build({ rows, about, signal: abort.signal }, ({ phase }) => {
      if (phase === 'write') abort.abort();
    });
    const info = await building.catch(() => undefined);
    expect((await store.list()).map((entry) => entry.info)).toEqual(info === undefined ? [] : [info]);
  });

  it('does not start when it is aborted before', async () => {
    const signal = AbortSignal.abort();
    const building = new IndexBuilder({ dir }).build({ rows, about, signal });
    await expect(building).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
  });

  it('leaves whole versions only when the process is killed again and again', async () => {
    const script = fileURLToPath(new URL('./build-forever.ts', import.meta.url));
    for (const killAtWrite of [1, 2]) {
      const child = spawn(process.execPath, ['--import', 'tsx', script, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
      let writes = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        writes += chunk.toString().split('write').length - 1;
        if (writes >= killAtWrite) child.kill('SIGKILL');
      });
      await once(child, 'exit');
      expect(child.signalCode).toBe('SIGKILL');
    }
    await store.open();
    const names = await readdir(join(dir, 'versions'));
    expect(names.filter((name) => !/^v\d{6}$/.test(name))).toEqual([]);
    for (const id of names) expect((await store.load(id)).index.size).toBe(400);
    expect(names.length).toBeGreaterThanOrEqual(1);
  });

  it('reports a crashed thread, keeps the old version and builds the next one', async () => {
    await new IndexBuilder({ dir }).build({ rows, about });
    const before = await contentOf(dir);
    const ids = Array.from({ length: 200_000 }, (_, i) => `${i}-${'x'.repeat(100)}`);
    const tooMany = { dimensions: 1, ids, vectors: new Float32Array(200_000) };
    const starved = new IndexBuilder({
      dir,
      resourceLimits: { maxOldGenerationSizeMb: 20, maxYoungGenerationSizeMb: 4 },
    });
    await expect(starved.build({ rows: tooMany, about })).rejects.toMatchObject({
      code: 'AR_ERR_INTERNAL',
      message: expect.stringContaining('crashed'),
    });
    expect(await contentOf(dir)).toEqual(before);
    expect(await new IndexBuilder({ dir }).build({ rows, about })).toMatchObject({ id: 'v000002' });
  });

  it('takes one build at a time and none after a stop', async () => {
    const builder = new IndexBuilder({ dir });
    const first = builder.build({ rows, about });
    await expect(builder.build({ rows, about })).rejects.toMatchObject({ code: 'AR_ERR_OVERLOADED' });
    await first;
    await builder.stop();
    await expect(builder.build({ rows, about })).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
  });
});
