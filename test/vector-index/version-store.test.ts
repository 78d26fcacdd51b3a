import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HnswIndex, rowsOf, type VersionDraft, VersionStore } from '../../src/vector-index/index.ts';
import { clusteredRows, rowOf } from './sample-vectors.ts';

const rows = clusteredRows(400, 16, 8);
const expected = { modelId: 'model-a', fingerprint: 'fp-a', dimensions: 16 };

function draft(kind: 'flat' | 'hnsw', changes: Partial<VersionDraft['info']> = {}): VersionDraft {
  const info: VersionDraft['info'] = {
    modelId: 'model-a',
    fingerprint: 'fp-a',
    builtAt: '2026-01-01T00:00:00.000Z',
    buildMs: 5,
    by: 'operator',
    why: 'command',
    embedded: 400,
    reused: 0,
    removed: 0,
    ...changes,
  };
  if (kind === 'flat') return { info, rows };
  return { info, rows, graph: HnswIndex.build({ ...rows, vectors: rows.vectors.slice() }) };
}

let dir: string;
let store: VersionStore;
const folder = (...names: string[]): string => join(dir, 'versions', ...names);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agent-reach-versions-'));
  store = new VersionStore(dir);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('VersionStore', () => {
  it.each(['flat', 'hnsw'] as const)('gives back a %s version as it was written', async (kind) => {
    const info = await store.write(draft(kind, { why: 'start', efSearch: 128 }));
    expect(info).toMatchObject({ id: 'v000001', kind, count: 400, dimensions: 16, why: 'start', efSearch: 128 });
    const loaded = await new VersionStore(dir).load('v000001', { ...expected, kind });
    expect(loaded.info).toEqual(info);
    expect(rowsOf(loaded.index)).toEqual(rows);
    for (const i of [0, 133, 399]) expect(loaded.index.search(rowOf(rows, i), 1)[0]?.id).toBe(`id-${i}`);
  });

  it.each(['flat', 'hnsw'] as const)('gives back an empty %s version', async (kind) => {
    const empty = { dimensions: 16, ids: [], vectors: new Float32Array(0) };
    const { info } = draft('flat');
    await store.write(kind === 'flat' ? { info, rows: empty } : { info, rows: empty, graph: HnswIndex.build(empty) });
    const { loaded } = await store.loadNewest(expected);
    expect(loaded?.index.size).toBe(0);
    expect(loaded?.index.search(rowOf(rows, 0), 3)).toEqual([]);
  });

  it('gives back an index that can be added to and removed from', async () => {
    await store.write(draft('hnsw'));
    const { index } = await store.load('v000001', expected);
    index.upsert('late', rowOf(rows, 7));
    index.remove('id-7');
    expect(index.search(rowOf(rows, 7), 1)[0]?.id).toBe('late');
  });

  it('numbers versions upwards, also over restarts, and keeps the newest three', async () => {
    for (let i = 0; i < 3; i++) await store.write(draft('flat'));
    const restarted = new VersionStore(dir);
    await restarted.open();
    expect(await restarted.nextId()).toBe('v000004');
    await restarted.write(draft('flat'));
    await restarted.write(draft('flat'));
    expect((await restarted.list()).map((entry) => entry.id)).toEqual(['v000005', 'v000004', 'v000003']);
    expect((await readdir(folder())).sort()).toEqual(['v000003', 'v000004', 'v000005']);
  });

  it('does not use the number of a removed or refused version again', async () => {
    await store.write(draft('flat'));
    await store.write(draft('flat'));
    await rm(folder('v000002'), { recursive: true });
    expect(await store.nextId()).toBe('v000003');
    await mkdir(folder('v000007'));
    expect(await store.nextId()).toBe('v000008');
  });

  it('takes a folder of a number that no version can have for no version, and says where numbers end', async () => {
    await store.write(draft('flat'));
    for (const name of ['v999999999999999', 'v1000000000']) await mkdir(folder(name));
    expect((await store.list()).map(({ id }) => id)).toEqual(['v000001']);
    expect(await store.nextId()).toBe('v000002');
    await mkdir(folder('v999999999'));
    await expect(store.nextId()).rejects.toMatchObject({
      code: 'AR_ERR_INDEX_CORRUPT',
      message: expect.stringContaining('remove it'),
    });
  });

  it('counts only versions that hold among the three it keeps', async () => {
    await store.write(draft('flat'));
    await store.write(draft('flat'));
    await mkdir(folder('v000003'));
    await writeFile(folder('v000003', 'version.json'), '{');
    await store.write(draft('flat'));
    expect((await store.list()).map((entry) => entry.id)).toEqual(['v000004', 'v000003', 'v000002', 'v000001']);
    await store.write(draft('flat'));
    await store.write(draft('flat'));
    expect((await store.list()).map((entry) => entry.id)).toEqual(['v000006', 'v000005', 'v000004']);
  });

  it('keeps the version just made, although later ones lie beside it', async () => {
    for (const id of ['v000006', 'v000007', 'v000008', 'v000002']) await store.write({ ...draft('flat'), id });
    expect((await store.list()).map(({ id }) => id)).toEqual(['v000008', 'v000007', 'v000006', 'v000002']);
    await store.write(draft('flat'));
    expect((await store.list()).map(({ id }) => id)).toEqual(['v000009', 'v000008', 'v000007']);
  });

  it('removes what an interrupted write left, and nothing else', async () => {
    await store.write(draft('flat'));
    await mkdir(folder('.tmp-1'));
    await writeFile(folder('.tmp-1', 'vectors.f32'), 'half');
    await store.open();
    expect(await readdir(folder())).toEqual(['v000001']);
  });

  it('leaves nothing of a write that failed', async () => {
    const graph = HnswIndex.build(clusteredRows(5, 16, 1));
    await expect(store.write({ ...draft('flat'), graph })).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    expect(await readdir(folder())).toEqual([]);
  });

  it('says so when the folder cannot be made or read', async () => {
    await writeFile(folder(), 'a file where the folder should be');
    const unavailable = { code: 'AR_ERR_STORE_UNAVAILABLE' };
    await expect(store.open()).rejects.toMatchObject(unavailable);
    await expect(store.write(draft('flat'))).rejects.toMatchObject(unavailable);
    await expect(store.list()).rejects.toMatchObject(unavailable);
  });

  it('holds no version before the first one', async () => {
    expect(await store.list()).toEqual([]);
    expect(await store.nextId()).toBe('v000001');
    expect(await store.loadNewest(expected)).toEqual({ refused: [] });
  });

  it.each(['v000002', 'v1', '../v000001', '', 'v000001/../v000001'])('has no version %j', async (id) => {
    await store.write(draft('flat'));
    await expect(store.load(id)).rejects.toMatchObject({ code: 'AR_ERR_NOT_FOUND' });
  });
});

describe('a version that is not what it should be', () => {
  const flipByte = async (file: string): Promise<void> => {
    const content = await readFile(file);
    const at = content.length >> 1;
    content[at] = (content[at] ?? 0) ^ 1;
    await writeFile(file, content);
  };
  const edit = async (file: string, from: string, to: string): Promise<void> => {
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  };
  const damages: readonly (readonly [string, RegExp, () => Promise<unknown>])[] = [
    ['a cut graph', /vectors\.hnsw has 100 bytes/, () => truncate(folder('v000001', 'vectors.hnsw'), 100)],
    ['cut rows', /vectors\.f32 has 100 bytes/, () => truncate(folder('v000001', 'vectors.f32'), 100)],
    ['empty ids', /ids\.json has 0 bytes/, () => truncate(folder('v000001', 'ids.json'), 0)],
    ['a flipped bit in the graph', /vectors\.hnsw does not match/, () => flipByte(folder('v000001', 'vectors.hnsw'))],
    ['a flipped bit in the rows', /vectors\.f32 does not match/, () => flipByte(folder('v000001', 'vectors.f32'))],
    ['a flipped bit in the ids', /ids\.json does not match/, () => flipByte(folder('v000001', 'ids.json'))],
    ['no graph', /vectors\.hnsw cannot be read/, () => rm(folder('v000001', 'vectors.hnsw'))],
    ['no rows', /vectors\.f32 cannot be read/, () => rm(folder('v000001', 'vectors.f32'))],
    ['no sidecar', /sidecar cannot be read/, () => rm(folder('v000001', 'version.json'))],
    ['a cut sidecar', /version\.json is not JSON/, () => truncate(folder('v000001', 'version.json'), 80)],
    ['an empty object as sidecar', /not a sidecar/, () => writeFile(folder('v000001', 'version.json'), '{}')],
    ['null as sidecar', /not a sidecar/, () => writeFile(folder('v000001', 'version.json'), 'null')],
    [
      'a sidecar that was edited',
      /version\.json does not match/,
      () => edit(folder('v000001', 'version.json'), '"fp-b"', '"fp-a"'),
    ],
    [
      'a sidecar of another format',
      /format 2 instead of 1/,
      () => edit(folder('v000001', 'version.json'), '"format": 1', '"format": 2'),
    ],
  ];

  it.each(damages)('is refused: %s', async (what, reason, damage) => {
    await store.write(draft('hnsw', what.includes('edited') ? { fingerprint: 'fp-b' } : {}));
    await damage();
    const refusal = { code: 'AR_ERR_INDEX_CORRUPT', message: expect.stringMatching(reason) };
    await expect(store.load('v000001', expected)).rejects.toMatchObject(refusal);
    expect(await store.loadNewest(expected)).toEqual({
      refused: [{ id: 'v000001', reason: expect.stringMatching(reason) }],
    });
  });

  it.each(['version.json', 'ids.json', 'vectors.f32', 'vectors.hnsw'])('is refused: %s is a pipe', async (name) => {
    await store.write(draft('hnsw'));
    await rm(folder('v000001', name));
    execFileSync('mkfifo', [folder('v000001', name)]);
    await expect(store.load('v000001', expected)).rejects.toMatchObject({
      code: 'AR_ERR_INDEX_CORRUPT',
      message: expect.stringContaining('not a regular file'),
    });
    expect(await store.loadNewest(expected)).toMatchObject({ refused: [{ id: 'v000001' }] });
  });

  it('is refused: a folder under another number', async () => {
    await store.write(draft('flat'));
    await cp(folder('v000001'), folder('v000002'), { recursive: true });
    await expect(store.load('v000002')).rejects.toMatchObject({
      message: expect.stringContaining('a copy of v000001'),
    });
  });

  it.each([
    [{ modelId: 'model-b' }, /modelId is model-a instead of model-b/],
    [{ fingerprint: 'fp-b' }, /fingerprint is fp-a instead of fp-b/],
    [{ dimensions: 32 }, /dimensions is 16 instead of 32/],
    [{ kind: 'hnsw' }, /kind is flat instead of hnsw/],
  ] as const)('is refused: not %o', async (other, reason) => {
    await store.write(draft('flat'));
    const refusal = { code: 'AR_ERR_INDEX_CORRUPT', message: expect.stringMatching(reason) };
    await expect(store.load('v000001', { ...expected, ...other })).rejects.toMatchObject(refusal);
  });

  it('is passed over for the one before, with the reason', async () => {
    await store.write(draft('hnsw'));
    await store.write(draft('flat', { fingerprint: 'fp-b' }));
    await store.write(draft('hnsw'));
    await truncate(folder('v000003', 'vectors.hnsw'), 1_000);
    const { loaded, refused } = await store.loadNewest(expected);
    expect(loaded?.info.id).toBe('v000001');
    expect(refused.map((entry) => entry.id)).toEqual(['v000003', 'v000002']);
    expect(await store.nextId()).toBe('v000004');
  });

  it('is listed with its problem', async () => {
    await store.write(draft('flat'));
    await store.write(draft('flat'));
    await rm(folder('v000002', 'version.json'));
    const [newest, older] = await store.list();
    expect(newest).toEqual({ id: 'v000002', problem: expect.stringContaining('sidecar cannot be read') });
    expect(older?.info?.count).toBe(400);
  });
});
