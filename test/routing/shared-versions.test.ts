/** Two instances over one store in one process: what one builds, the other makes the same, or says why not. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { contentHash, nextTurn, subscribe } from '../../src/core/index.ts';
import type { SharedClaims } from '../../src/routing/index.ts';
import { MemoryStore } from '../../src/storage/index.ts';
import { IndexBuilder, type StagedVersion, VersionStore } from '../../src/vector-index/index.ts';
import { type IndexRig, indexRig, meaningsOf } from './index-rig.ts';

const RAIN = {
  name: 'weather.query.rain',
  description: 'says whether rain comes',
  examples: ['will it rain', 'is rain coming', 'rain today', 'how much rain'],
};
const MAIL = {
  name: 'mail.send.message',
  examples: ['mail my boss', 'send mail to anna', 'write mail', 'mail a file'],
};

const OTHER = { ...RAIN, description: 'other words' };

/** As Redis would count them. `onRelease` is called while a claim is let go. */
function claimsInMemory(hooks: { onRelease?: () => Promise<void> } = {}): SharedClaims {
  const fences = new Map<string, number>();
  const held = new Map<string, AbortController>();
  return {
    isTaken: async (work) => held.has(work),
    async take(work, { above = 0, byForce = false } = {}) {
      if (held.has(work) && !byForce) return undefined;
      held.get(work)?.abort();
      const ending = new AbortController();
      held.set(work, ending);
      const fence = Math.max(fences.get(work) ?? 0, above) + 1;
      fences.set(work, fence);
      return {
        fence,
        lost: ending.signal,
        confirm: async () => !ending.signal.aborted,
        release: async () => {
          if (held.get(work) === ending) held.delete(work);
          const { onRelease } = hooks;
          delete hooks.onRelease;
          await onRelease?.();
        },
      };
    },
  };
}

async function two(claims = claimsInMemory()): Promise<{ a: IndexRig; b: IndexRig }> {
  const around = { store: new MemoryStore(), claims };
  const a = await indexRig(around);
  const b = await indexRig(around);
  onTestFinished(async () => {
    await a.clean();
    await b.clean();
  });
  for (const one of [a, b]) await one.register([RAIN, MAIL]);
  return { a, b };
}

async function registerAtBoth(
  { a, b }: { a: IndexRig; b: IndexRig },
  capabilities: Parameters<IndexRig['register']>[0],
): Promise<void> {
  for (const one of [a, b]) await one.register(capabilities);
}

/** The instance hears that the manifest changed. */
async function hears({ shared, vectors, clock }: IndexRig, version: string): Promise<void> {
  await shared?.load();
  // A little at a time: a build takes as long as it takes.
  await expect
    .poll(
      () => {
        clock.advance(1);
        return vectors.versionId;
      },
      { timeout: 15_000 },
    )
    .toBe(version);
}

/** Once, right before the next staged version is loaded, or made to count: by then it is published. */
function onceBefore(step: 'loadStaged' | 'commit', task: (staged: StagedVersion) => Promise<unknown>): void {
  const real = VersionStore.prototype[step] as (...args: unknown[]) => Promise<unknown>;
  const spy = vi.spyOn(VersionStore.prototype, step) as unknown as ReturnType<typeof vi.fn>;
  onTestFinished(() => void spy.mockRestore());
  spy.mockImplementationOnce(async function (this: VersionStore, ...args: unknown[]) {
    spy.mockRestore();
    await task(args[0] as StagedVersion);
    return real.apply(this, args);
  });
}

it('makes the same version: vectors, texts, and what was learnt from phrases', async () => {
  const { a, b } = await two();
  const built = await a.rebuild();
  const before = b.embedder.embeddedTexts;
  await hears(b, built.id);
  expect(b.embedder.embeddedTexts).toBe(before);
  expect(await b.store.rowsDigestOf(built.id)).toEqual(await a.store.rowsDigestOf(built.id));
  expect(await b.store.headsOf(built.id)).toEqual(await a.store.headsOf(built.id));
  expect(await b.store.headsOf(built.id)).toBeDefined();
  expect(await b.store.catalogueOf(built.id)).toEqual(await a.store.catalogueOf(built.id));
  const [query] = await a.embedder.embed(['is there rain'], { kind: 'query' });
  const found = (rig: IndexRig) => rig.indexer.search('default', query ?? new Float32Array(), 9);
  expect(found(b).map(({ similarity, text }) => [similarity, text.text])).toEqual(
    found(a).map(({ similarity, text }) => [similarity, text.text]),
  );
  expect((await b.desk.versions()).items).toEqual([built]);
  expect(b.vectors.deltaSize).toBe(0);
});

it('keeps its own version, says so and tries again where a vector is missing', async () => {
  const { a, b } = await two();
  const first = await a.rebuild();
  await hears(b, first.id);
  await a.register([{ ...RAIN, examples: ['take an umbrella'] }]);
  const second = await a.rebuild();
  const vectors = await a.vectorStore.getMany(a.model.fingerprint, [contentHash('take an umbrella')]);
  expect(vectors.size).toBe(1);
  await a.vectorStore.prune((_model, hash) => !vectors.has(hash));
  const failures: string[] = [];
  onTestFinished(subscribe('index.failed', ({ why }) => failures.push(why)));
  await b.shared?.load();
  await expect.poll(async () => (await b.desk.versions()).lastFailure?.reason).toContain('1 of its 8 vectors');
  expect(b.vectors.versionId).toBe(first.id);
  expect(failures).toEqual(['shared']);
  await a.vectorStore.putMany(a.model.fingerprint, vectors);
  b.clock.advance(1_500);
  await hears(b, second.id);
  expect((await b.desk.versions()).lastFailure).toBeNull();
});

it('takes a vector that it holds with other bits from the store', async () => {
  const { a, b } = await two();
  const hash = contentHash('will it rain');
  const other = b.vectors.vectorOf(hash) ?? new Float32Array();
  b.vectors.upsert(
    hash,
    other.map((one) => Math.fround(one * 0.999_99)),
  );
  const { id } = await a.rebuild();
  await hears(b, id);
  expect(await b.store.rowsDigestOf(id)).toEqual(await a.store.rowsDigestOf(id));
});

it('makes a version anew that lies otherwise on its disk', async () => {
  const { a, b } = await two();
  const { id } = await a.rebuild();
  await b.register([{ ...MAIL, examples: [] }]);
  const about = { modelId: 'hash', by: 'b', why: 'w', embedded: 0, reused: 0, removed: 0, builtAt: '', buildMs: 0 };
  const vector = new Float32Array(a.model.dimensions).fill(0.01);
  await b.store.write({
    info: { ...about, fingerprint: a.model.fingerprint },
    rows: { dimensions: a.model.dimensions, ids: ['other'], vectors: vector },
  });
  expect((await b.store.list()).map((one) => one.id)).toEqual([id]);
  await hears(b, id);
  expect(await b.store.rowsDigestOf(id)).toEqual(await a.store.rowsDigestOf(id));
});

it('goes back with whoever goes back, and keeps doing so after a start without files', async () => {
  const { a, b } = await two();
  const first = await a.rebuild();
  await a.register([{ ...RAIN, description: 'other words' }]);
  await b.register([{ ...RAIN, description: 'other words' }]);
  const second = await a.rebuild();
  await hears(b, second.id);
  await b.desk.rollback({ version: first.id, by: 'ops' });
  await hears(a, first.id);
  expect(a.desk.held).toMatchObject({ version: first.id, by: 'ops' });
  expect(await a.answer('says whether rain comes')).toBe(RAIN.name);
  rmSync(join(a.dir, 'versions'), { recursive: true });
  await a.shared?.load();
  await expect(a.desk.rollback({ version: 'v000009', by: 'ops' })).rejects.toMatchObject({ code: 'AR_ERR_NOT_FOUND' });
});

it('follows a rollback that it heard of between publishing and swapping', async () => {
  const { a, b } = await two();
  const first = await a.rebuild();
  await hears(b, first.id);
  await registerAtBoth({ a, b }, [OTHER]);
  onceBefore('commit', async () => {
    await b.shared?.load();
    await b.desk.rollback({ version: first.id, by: 'ops' });
    await a.shared?.load();
  });
  await expect(a.rebuild()).rejects.toMatchObject({ code: 'AR_ERR_INDEX_OVERTAKEN' });
  await expect.poll(() => a.shared?.isServed).toBe(true);
  expect(a.vectors.versionId).toBe(first.id);
  expect(a.desk.held).toMatchObject({ version: first.id, by: 'ops' });
  expect((await a.desk.versions()).lastFailure).toBeNull();
});

it('follows a rollback that it heard of while its own was published', async () => {
  const hooks: Parameters<typeof claimsInMemory>[0] = {};
  const { a, b } = await two(claimsInMemory(hooks));
  const versions: string[] = [];
  for (const words of ['first', 'second', 'third']) {
    await registerAtBoth({ a, b }, [{ ...RAIN, description: words }]);
    const { id } = await a.rebuild();
    await hears(b, id);
    versions.push(id);
  }
  const [first = '', second = ''] = versions;
  hooks.onRelease = async () => {
    await b.shared?.load();
    await b.desk.rollback({ version: second, by: 'b' });
    await a.shared?.load();
  };
  const rollback = a.desk.rollback({ version: first, by: 'a' });
  await expect(rollback).rejects.toMatchObject({ code: 'AR_ERR_INDEX_OVERTAKEN' });
  await expect.poll(() => a.vectors.versionId).toBe(second);
  expect(a.desk.held).toMatchObject({ version: second, by: 'b' });
});

it('builds nothing any more when it stops while it waits in line', async () => {
  const { a, b } = await two();
  await a.rebuild();
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const alone = b.rebuilder.runAlone(() => gate);
  await b.shared?.load();
  const build = vi.spyOn(IndexBuilder.prototype, 'build');
  onTestFinished(() => build.mockRestore());
  const cleaning = b.clean();
  open();
  await alone;
  await cleaning;
  expect(build).not.toHaveBeenCalled();
  expect((await b.desk.versions()).lastFailure).toBeNull();
});

it('says that it has no copy of a version that is listed and never served here', async () => {
  const { a, b } = await two();
  const first = await a.rebuild();
  await registerAtBoth({ a, b }, [OTHER]);
  const second = await a.rebuild();
  await hears(b, second.id);
  expect((await b.desk.versions()).items.map(({ id }) => id)).toEqual([second.id, first.id]);
  await expect(b.desk.verify({ version: first.id })).rejects.toMatchObject({
    code: 'AR_ERR_NOT_FOUND',
    message: expect.stringContaining(`no copy of ${first.id}`),
  });
  await expect(b.desk.verify({ version: 'v000009' })).rejects.toMatchObject({
    message: 'There is no index version v000009.',
  });
  expect(await b.desk.verify({})).toMatchObject({ version: second.id, ok: true });
});

it('says that who builds cannot be agreed on, once, and tries again', async () => {
  const claims = claimsInMemory();
  const { a } = await two(claims);
  const failures: string[] = [];
  onTestFinished(subscribe('index.failed', ({ why }) => failures.push(why)));
  const take = vi.spyOn(claims, 'take').mockRejectedValue(new Error('no answer'));
  a.clock.advance(2_000);
  await expect.poll(async () => (await a.desk.versions()).lastFailure?.reason).toContain('no answer');
  a.clock.advance(2_000);
  await expect.poll(() => take.mock.calls.length).toBe(2);
  take.mockRestore();
  await nextTurn();
  a.clock.advance(4_000);
  await expect.poll(() => a.vectors.versionId, { timeout: 5_000 }).toBe('v000001');
  expect((await a.desk.versions()).lastFailure).toBeNull();
  expect(failures).toEqual(['start']);
});

it('ends at once, by no clock, while another instance builds', async () => {
  const a = await indexRig({ claims: { isTaken: async () => true, take: async () => undefined } });
  onTestFinished(() => a.clean());
  await a.register([RAIN]);
  const waiting = expect(a.rebuild()).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
  await nextTurn();
  await a.desk.stop();
  await waiting;
});

it('rests after a version of another instance as after one of its own', async () => {
  const { a, b } = await two();
  onceBefore('commit', async () => {
    onceBefore('loadStaged', async () => {
      b.clock.advance(20_000);
    });
  });
  const first = await a.rebuild();
  await hears(b, first.id);
  // Over the size and the share from which a delta is rebuilt at once.
  const examples = (i: number) => Array.from({ length: 32 }, (_, j) => `thing ${i} in way ${j}`);
  await b.register(Array.from({ length: 40 }, (_, i) => ({ name: `many.do.thing${i}`, examples: examples(i) })));
  b.clock.advance(1_900);
  await nextTurn();
  expect(b.rebuilder.isBuilding).toBe(false);
  b.clock.advance(200);
  await expect.poll(() => b.rebuilder.isBuilding).toBe(true);
});

it('prunes nothing while a version is built, and stores again what somebody pruned all the same', async () => {
  const { a, b } = await two();
  const isStored = async (): Promise<boolean> =>
    (await a.vectorStore.getMany(a.model.fingerprint, [contentHash(RAIN.description)])).size === 1;
  const isKept: boolean[] = [];
  onceBefore('loadStaged', async () => {
    await registerAtBoth({ a, b }, [OTHER]);
    for (const one of [a, b]) one.indexer.dropUnowned();
    a.pruner.start();
    await a.pruner.settled();
    isKept.push(await isStored());
    // As by one that had begun before the build did.
    await a.vectorStore.prune((_model, hash) => hash !== contentHash(RAIN.description));
    isKept.push(await isStored());
  });
  const { id } = await b.rebuild();
  expect(isKept).toEqual([true, false]);
  await hears(a, id);
  expect(await a.store.rowsDigestOf(id)).toEqual(await b.store.rowsDigestOf(id));
});

it('prunes no vector that a version of all, a running model, or a registration of another one needs', async () => {
  const { a, b } = await two();
  const fingerprint = a.model.fingerprint;
  const stored = async (text: string, model = fingerprint): Promise<boolean> =>
    (await a.vectorStore.getMany(model, [contentHash(text)])).size === 1;
  const vector = Float32Array.of(1);
  for (const model of ['runs elsewhere', 'ran long ago', 'never seen']) {
    const texts = ['will it rain', 'said of nothing'].map((text) => [contentHash(text), vector] as const);
    await a.vectorStore.putMany(model, new Map(texts));
  }
  a.running.models = [
    { fingerprint: 'runs elsewhere', agoMs: 5_000 },
    { fingerprint: 'ran long ago', agoMs: 7_200_000 },
  ];
  const versions = [await a.rebuild()];
  for (const words of ['second words', 'third words', 'fourth words']) {
    await a.register([{ ...RAIN, description: words }]);
    a.clock.advance(600_000);
    versions.push(await a.rebuild());
    await a.pruner.settled();
  }
  expect([await stored('says whether rain comes'), await stored('second words')]).toEqual([false, true]);
  expect([await stored('will it rain', 'runs elsewhere'), await stored('said of nothing', 'runs elsewhere')]).toEqual([
    true,
    false,
  ]);
  expect([await stored('will it rain', 'ran long ago'), await stored('will it rain', 'never seen')]).toEqual([
    false,
    false,
  ]);
  // Text of a registration under way at the other one: gone, and put back when it hears of it.
  await b.indexer.prepare(meaningsOf([{ ...MAIL, description: 'about to be registered' }]));
  await a.rebuild();
  await a.pruner.settled();
  expect(await stored('about to be registered')).toBe(false);
  await b.indexer.restoreVectors([contentHash('about to be registered'), contentHash('said by nobody')]);
  expect([await stored('about to be registered'), await stored('said by nobody')]).toEqual([true, false]);
});
