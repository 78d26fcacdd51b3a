import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ruleSchema } from '../../src/contract/index.ts';
import { type DiagnosticEvents, nextTurn, subscribe } from '../../src/core/index.ts';
import { type IndexRig, indexRig } from './index-rig.ts';
import { MAIL } from './router-rig.ts';

const V1 = { name: 'weather.query.city', description: 'weather forecast for a city', examples: ['will it rain'] };
/** What the same agents say after a careless edit. */
const V2 = { ...V1, description: 'parking garage opening hours', examples: ['is the garage open'] };
const RAIN = 'will it rain';

let rig: IndexRig;
let rigs: IndexRig[] = [];

beforeEach(async () => {
  rig = await indexRig();
  rigs = [rig];
});
afterEach(async () => {
  for (const one of rigs) await one.clean();
});

async function restarted(): Promise<IndexRig> {
  const { kept: store, dir } = rig;
  await rig.desk.stop();
  const next = await indexRig({ store, dir });
  rigs.push(next);
  return next;
}

/** Turns the event loop until it holds: work in threads has no clock of ours. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

/** Two versions: v000001 with good texts, v000002 with bad ones. */
async function twoVersions(): Promise<void> {
  await rig.register([V1, MAIL]);
  await rig.rebuild();
  expect(await rig.answer(RAIN)).toBe(V1.name);
  await rig.register([V2]);
  await rig.rebuild();
  expect(await rig.answer(RAIN)).toBeNull();
}

describe('a rollback', () => {
  it('gives the answers of the version, and names it, until a rebuild is asked for', async () => {
    await twoVersions();
    const { restored, held } = await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    expect(restored).toBe(1);
    expect(held).toMatchObject({ version: 'v000001', by: 'ops' });
    expect(rig.desk.currentVersion).toBe('v000001');
    expect(await rig.answer(RAIN)).toBe(V1.name);
    expect(await rig.answer('is the garage open')).toBeNull();
    expect(rig.indexer.space('default')?.searchWords('forecast', 5)).toHaveLength(1);

    const { id } = await rig.rebuild();
    expect(rig.desk.currentVersion).toBe(id);
    expect(rig.desk.held).toBeNull();
    expect(await rig.answer(RAIN)).toBeNull();
    expect(await rig.answer('is the garage open')).toBe(V1.name);
  });

  it('tells who waits for the rebuild that it overtakes so, and counts it as no failure', async () => {
    await twoVersions();
    const rebuilding = rig.rebuild();
    const outcome = expect(rebuilding).rejects.toMatchObject({ code: 'AR_ERR_INDEX_OVERTAKEN' });
    await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    await outcome;
    expect((await rig.desk.versions()).lastFailure).toBeNull();
    expect(rig.desk.currentVersion).toBe('v000001');
  });

  it('starts no rebuild by itself while it holds', async () => {
    await twoVersions();
    await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    await rig.register([{ name: 'song.play.one', description: 'play a song' }]);
    rig.clock.advance(600_000);
    await nextTurn();
    expect((await rig.desk.versions()).items.map(({ id }) => id)).toEqual(['v000002', 'v000001']);
    expect(await rig.answer('play a song')).toBe('song.play.one');
  });

  it('follows agents that change their texts, and forgets those that leave', async () => {
    await twoVersions();
    await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    await rig.register([{ ...V1, description: 'storm warnings at sea', examples: [] }]);
    expect(await rig.answer('storm warnings at sea')).toBe(V1.name);
    expect(await rig.answer(RAIN)).toBeNull();
    rig.indexer.remove('default', MAIL.name);
    expect(await rig.answer('send an email to somebody')).toBeNull();
  });

  it('never loosens what is sensitive', async () => {
    await rig.register([V1]);
    await rig.rebuild();
    await rig.register([{ ...V1, sensitive: true, examples: ['rain or not'] }]);
    await rig.rebuild();
    await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    expect(rig.indexer.space('default')?.get(V1.name)?.sensitive).toBe(true);
    expect(await rig.answer(RAIN)).toBeNull();
  });

  it('survives a restart', async () => {
    await twoVersions();
    await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    const next = await restarted();
    next.indexer.apply((await import('./index-rig.ts')).meaningsOf([V2, MAIL]));
    await next.indexer.start();
    expect(next.desk.currentVersion).toBe('v000001');
    expect(next.desk.held).toMatchObject({ version: 'v000001', by: 'ops' });
    expect(await next.answer(RAIN)).toBe(V1.name);
  });

  it('refuses a version that is not there, and changes nothing', async () => {
    await twoVersions();
    await expect(rig.desk.rollback({ version: 'v000009', by: 'ops' })).rejects.toMatchObject({
      code: 'AR_ERR_NOT_FOUND',
    });
    truncateSync(join(rig.dir, 'versions', 'v000001', 'catalogue.json'), 3);
    await expect(rig.desk.rollback({ version: 'v000001', by: 'ops' })).rejects.toMatchObject({
      code: 'AR_ERR_INDEX_CORRUPT',
    });
    expect(rig.desk.currentVersion).toBe('v000002');
    expect(rig.desk.held).toBeNull();
  });
});

describe('the golden set', () => {
  it('keeps a version from serving that answers worse, and says which line failed', async () => {
    await twoVersions();
    await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    await rig.golden.put([{ id: 'rain', text: RAIN, capability: V1.name }]);
    const failed: DiagnosticEvents['index.failed'][] = [];
    const stop = subscribe('index.failed', (event) => failed.push(event));
    await expect(rig.rebuild()).rejects.toMatchObject({
      code: 'AR_ERR_INDEX_SELF_CHECK',
      issues: [{ path: 'golden.rain', message: `rain: "${RAIN}" should be ${V1.name} and is no match` }],
    });
    stop();
    expect(failed).toMatchObject([{ check: 'golden', lines: [expect.stringContaining('rain: ')] }]);
    const list = await rig.desk.versions();
    expect(list).toMatchObject({ current: 'v000001', held: { version: 'v000001' }, lastFailure: { check: 'golden' } });
    expect(list.items.map(({ id }) => id)).toEqual(['v000002', 'v000001']);
    expect(await rig.answer(RAIN)).toBe(V1.name);
  });

  it('lets a version serve whose wrong lines were wrong before, and counts them', async () => {
    await rig.register([V1, MAIL]);
    await rig.golden.put([
      { text: RAIN, capability: V1.name },
      { text: 'unrelated nonsense', capability: MAIL.name },
      { text: 'the meaning of life', capability: null },
    ]);
    const info = await rig.rebuild();
    expect(info.selfCheck?.golden).toEqual({ right: 2, lines: 3 });
    const verified = await rig.desk.verify({});
    expect(verified).toMatchObject({ ok: false, golden: { right: 2, lines: 3 } });
    expect(verified.problems).toEqual([expect.stringContaining('"unrelated nonsense" should be mail.send.message')]);
  });

  it('goes by the rules, and counts nothing of it as decided by rules', async () => {
    await rig.register([V1, MAIL]);
    const invoice = { id: 'invoice', match: 'contains', patterns: ['invoice'], capability: MAIL.name };
    await rig.rules.put(ruleSchema.parse(invoice), { by: 'test' });
    await rig.golden.put([
      { text: 'where is my invoice', capability: MAIL.name },
      { text: RAIN, capability: V1.name },
    ]);
    const counted: unknown[] = [];
    const stop = subscribe('rules.evaluated', (event) => counted.push(event));
    const info = await rig.rebuild();
    stop();
    expect(info.selfCheck?.golden).toEqual({ right: 2, lines: 2 });
    expect(counted).toEqual([]);
  });

  it('takes a line once however often it comes, replaces by id, and keeps it over a restart', async () => {
    const [line] = (await rig.golden.put([{ text: 'a', capability: V1.name }])).items;
    expect(await rig.golden.put([{ text: 'a', capability: null }])).toMatchObject({ added: 0, updated: 1 });
    const next = await restarted();
    expect(next.golden.list()).toEqual([{ ...line, capability: null }]);
    await next.golden.remove(line?.id ?? '');
    expect(next.golden.size).toBe(0);
  });

  it.each([
    ['no words', { text: '😀', capability: null }, 'AR_ERR_INVALID_INTENT'],
    ['a bad name', { text: 'a', capability: 'weather' }, 'AR_ERR_INVALID_CAPABILITY'],
  ])('refuses a list with %s as a whole', async (_what, line, code) => {
    await expect(rig.golden.put([{ text: 'good', capability: null }, line])).rejects.toMatchObject({ code });
    expect(rig.golden.size).toBe(0);
  });
});

describe('verify and diff', () => {
  it('finds a sound version sound, and says what a damaged one lacks', async () => {
    await twoVersions();
    expect(await rig.desk.verify({})).toMatchObject({ version: 'v000002', ok: true, recallAt10: 1, problems: [] });
    truncateSync(join(rig.dir, 'versions', 'v000001', 'vectors.hnsw'), 10);
    expect(await rig.desk.verify({ version: 'v000001' })).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('vectors.hnsw has 10 bytes')],
      golden: null,
    });
    await expect(rig.desk.verify({ version: 'v000009' })).rejects.toMatchObject({ code: 'AR_ERR_NOT_FOUND' });
  });

  it('asks the golden set of an old version as a rollback to it would answer', async () => {
    await twoVersions();
    await rig.golden.put([{ text: RAIN, capability: V1.name }]);
    expect((await rig.desk.verify({ version: 'v000001' })).golden).toMatchObject({ right: 1, lines: 1 });
    expect((await rig.desk.verify({})).golden).toMatchObject({ right: 0, lines: 1 });
  });

  it('shows what came, went and changed', async () => {
    await twoVersions();
    rig.indexer.remove('default', MAIL.name);
    await rig.register([{ name: 'song.play.one', sensitive: true }]);
    await rig.rebuild();
    const diff = await rig.desk.diff({ from: 'v000001', to: 'v000003' });
    expect(diff.added).toEqual([{ namespace: 'default', capability: 'song.play.one' }]);
    expect(diff.removed).toEqual([{ namespace: 'default', capability: MAIL.name }]);
    expect(diff.changed[0]?.texts).toContainEqual({ list: 'examples', change: 'removed', text: RAIN });
    expect(diff.changed).toHaveLength(1);
  });

  it('says so where an old version has no catalogue', async () => {
    await rig.store.write({
      info: {
        modelId: 'm',
        fingerprint: 'f',
        by: 'b',
        why: 'w',
        embedded: 0,
        reused: 0,
        removed: 0,
        builtAt: '',
        buildMs: 0,
      },
      rows: { dimensions: 4, ids: [], vectors: new Float32Array(0) },
    });
    await expect(rig.desk.diff({ from: 'v000001', to: 'v000001' })).rejects.toMatchObject({
      code: 'AR_ERR_INDEX_NO_CATALOGUE',
    });
  });
});

describe('a start', () => {
  it('lets go of the version it found once another one serves', async () => {
    await twoVersions();
    const next = await restarted();
    await next.register([V1]);
    const { startedOn } = next;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const isKept = async (): Promise<boolean> => {
      await nextTurn();
      collect();
      return startedOn?.deref() !== undefined;
    };
    expect(await isKept()).toBe(true);
    await next.rebuild();
    expect(await isKept()).toBe(false);
  });

  it('takes the version before where the newest is damaged, and lists the refused one', async () => {
    await twoVersions();
    truncateSync(join(rig.dir, 'versions', 'v000002', 'vectors.f32'), 8);
    const next = await restarted();
    expect(next.desk.currentVersion).toBe('v000001');
    expect(next.started.note).toBe('loaded v000001; refused v000002');
    expect((await next.desk.versions()).refused).toEqual([
      { id: 'v000002', problem: expect.stringMatching(/vectors\.f32 has 8 bytes.*A rebuild makes a usable one/) },
    ]);
  });

  it('rebuilds by itself for another model, and says that texts wait until then', async () => {
    await twoVersions();
    const { kept: store, dir } = rig;
    await rig.desk.stop();
    const next = await indexRig({ store, dir, fingerprint: 'another' });
    rigs.push(next);
    next.indexer.apply((await import('./index-rig.ts')).meaningsOf([V2, MAIL]));
    expect(next.started.firstWhy).toBe('model_change');
    expect(next.indexer.waitingReason).toMatch(/texts wait for their vectors/);
    await next.indexer.start();
    await next.indexer.settled();
    expect(next.indexer.waitingReason).toBeNull();
    const versions: string[] = [];
    const stop = subscribe('index.version', ({ why }) => versions.push(why));
    next.clock.advance(30_000);
    await until(() => versions.length > 0);
    stop();
    expect(versions).toEqual(['model_change']);
  });
});

describe('a disk that refuses', () => {
  it('leaves the old version serving, tells, and tries again with growing pauses until it can', async () => {
    await rig.register([V1]);
    await rig.rebuild();
    const place = join(rig.dir, 'versions');
    await rm(place, { recursive: true });
    writeFileSync(place, 'a file in the place of the folder');
    const failed: string[] = [];
    const built: string[] = [];
    const stops = [
      subscribe('index.failed', ({ reason }) => failed.push(reason)),
      subscribe('index.version', ({ version }) => built.push(version)),
    ];
    await rig.register([MAIL]);
    rig.clock.advance(2_000);
    await until(() => failed.length === 1);
    expect(failed[0]).toMatch(/index versions cannot be/);
    expect(await rig.answer(RAIN)).toBe(V1.name);
    expect(await rig.answer('send an email to somebody')).toBe(MAIL.name);
    await nextTurn();
    rig.clock.advance(500);
    await nextTurn();
    expect(failed).toHaveLength(1);
    rig.clock.advance(1_000);
    await until(() => failed.length === 2);
    rmSync(place);
    await nextTurn();
    rig.clock.advance(4_000);
    await until(() => built.length === 1);
    for (const stop of stops) stop();
    expect(rig.desk.currentVersion).toBe(built[0]);
    expect((await rig.desk.versions()).lastFailure).toBeNull();
  });
});
