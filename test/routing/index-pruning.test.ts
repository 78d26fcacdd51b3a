import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentHash } from '../../src/core/index.ts';
import { type IndexRig, indexRig, meaningsOf } from './index-rig.ts';
import { MAIL } from './router-rig.ts';

const say = (description: string) => ({ name: 'weather.query.city', description });

let rig: IndexRig;

beforeEach(async () => {
  rig = await indexRig();
});
afterEach(() => rig.clean());

async function stored(text: string, fingerprint = rig.model.fingerprint): Promise<boolean> {
  const hash = contentHash(text);
  return (await rig.vectorStore.getMany(fingerprint, [hash])).has(hash);
}

async function rebuilt(): Promise<void> {
  // Longer than a text is held for a registration under way.
  rig.clock.advance(600_000);
  await rig.rebuild();
  await rig.pruner.settled();
}

describe('stored vectors after a rebuild', () => {
  it('go with the last index version that has their text', async () => {
    await rig.register([say('the first words'), MAIL]);
    await rebuilt();
    await rig.register([say('other words')]);
    for (const isKept of [true, true, false]) {
      await rebuilt();
      expect(await stored('the first words')).toBe(isKept);
    }
    expect(await stored('other words')).toBe(true);
  });

  it('stay for a registration under way, in no version yet', async () => {
    await rig.register([MAIL]);
    await rig.indexer.prepare(meaningsOf([say('about to be registered')]));
    await rig.rebuild();
    await rig.pruner.settled();
    expect(await stored('about to be registered')).toBe(true);
  });

  it('go when their model went, but for versions of it', async () => {
    const vector = Float32Array.of(1, 0);
    await rig.vectorStore.putMany('model before', new Map([[contentHash('in a version'), vector]]));
    await rig.vectorStore.putMany('model before', new Map([[contentHash('in no version'), vector]]));
    const about = { modelId: 'm', by: 'b', why: 'w', embedded: 0, reused: 0, removed: 0, builtAt: '', buildMs: 0 };
    await rig.store.write({
      info: { ...about, fingerprint: 'model before' },
      rows: { dimensions: 2, ids: [contentHash('in a version')], vectors: vector },
    });
    await rig.register([MAIL]);
    await rebuilt();
    expect(await stored('in a version', 'model before')).toBe(true);
    expect(await stored('in no version', 'model before')).toBe(false);
  });

  it('stay, all of them, while a version cannot be read', async () => {
    await rig.register([say('the first words'), MAIL]);
    await rebuilt();
    await rig.register([say('other words')]);
    const ids = join(rig.dir, 'versions', 'v000001', 'ids.json');
    const whole = readFileSync(ids);
    writeFileSync(ids, 'gone');
    await rebuilt();
    expect(await stored('the first words')).toBe(true);
    writeFileSync(ids, whole);
    await rebuilt();
    expect(await stored('the first words')).toBe(true);
    await rebuilt();
    expect(await stored('the first words')).toBe(false);
  });

  it('let a rollback embed nothing', async () => {
    await rig.register([say('the first words'), MAIL]);
    await rebuilt();
    await rig.register([say('other words')]);
    await rebuilt();
    const before = rig.embedder.embeddedTexts;
    await rig.desk.rollback({ version: 'v000001', by: 'ops' });
    await rig.indexer.settled();
    expect(rig.embedder.embeddedTexts).toBe(before);
    expect(await rig.answer('the first words')).toBe('weather.query.city');
  });
});
