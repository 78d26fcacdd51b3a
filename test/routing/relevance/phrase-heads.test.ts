import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CapabilityName } from '../../../src/core/index.ts';
import type { ModelCalibration, RankingWeights, RegimeWeights } from '../../../src/embedding/index.ts';
import { Bm25Index } from '../../../src/lexical-index/index.ts';
import { CapabilitySpace } from '../../../src/routing/capability-space.ts';
import { HeadTrainer } from '../../../src/routing/index.ts';
import { type IndexedCapability, indexedCapability } from '../../../src/routing/indexed-capability.ts';
import {
  crossValidate,
  type PhraseClass,
  type PhraseHeadWeights,
  trainPhraseHead,
} from '../../../src/routing/relevance/phrase-head.ts';
import { decodeHeads, encodeHeads } from '../../../src/routing/relevance/phrase-head-file.ts';
import { HeadSet } from '../../../src/routing/relevance/phrase-heads.ts';
import { thresholdFactor } from '../../../src/routing/relevance/phrase-thresholds.ts';
import { DEFAULT_ROUTING } from '../../../src/routing/routing-options.ts';
import { type IndexRig, indexRig } from '../index-rig.ts';
import { CALIBRATION } from '../router-rig.ts';

const RAIN = {
  name: 'weather.query.rain',
  examples: ['will it rain', 'is rain coming', 'rain today', 'how much rain'],
};
const MAIL = {
  name: 'mail.send.message',
  examples: ['mail my boss', 'send mail to anna', 'write mail', 'mail a file'],
};
const NEWS = { name: 'news.read.today', examples: ['read news', 'news of today', 'any news', 'tell me the news'] };

/** Trains in this thread and always wins; `twist` makes the head prefer the wrong class. */
class TrainerHere {
  readonly asked: (readonly PhraseClass[])[] = [];
  twist = false;
  ranking: RankingWeights | undefined;

  thresholds: Record<string, number> | undefined;

  async train({ classes }: { readonly classes: readonly PhraseClass[] }) {
    this.asked.push(classes);
    const weights = trainPhraseHead(classes);
    if (weights !== undefined && this.twist)
      for (const [at, one] of weights.weights.entries()) weights.weights[at] = -one;
    const score = { head: 1, nearest: 0, phrases: 8 };
    return {
      score,
      weights: weights === undefined ? undefined : { ...weights, ranking: this.ranking },
      thresholds: this.thresholds,
    };
  }

  stop(): void {}
}

/** The head decides, and likeness between those that it holds for equal: a test sees which head answers. */
const BY_HEAD: ModelCalibration = (() => {
  const plain: RegimeWeights = { ranking: { best: 10 }, trust: { best: 10, constant: -2 } };
  const head: RegimeWeights = { ranking: { head: 10, best: 5 }, trust: { constant: 2 } };
  return {
    ...CALIBRATION,
    fitted: { fingerprint: 'test', regimes: { names: plain, texts: plain, phrases: plain, head, learnt: head } },
  };
})();

async function rig(before: Partial<Parameters<typeof indexRig>[0]> = {}) {
  const trainer = new TrainerHere();
  const one = await indexRig({ trainer, calibration: BY_HEAD, ...before });
  onTestFinished(one.clean);
  return { ...one, trainer };
}

const logits = async ({ indexer, embedder }: IndexRig, name: string): Promise<(number | null)[] | undefined> => {
  const queries = await embedder.embed(['will rain fall', 'mail it', 'what news'], { kind: 'query' });
  const head = indexer.headFor('default');
  return head === undefined ? undefined : queries.map((query) => head.logit(name, query) ?? null);
};

describe('heads of index versions', () => {
  it('are learnt with a version, once for the same phrases, and make old recalls out of date', async () => {
    const one = await rig();
    await one.register([RAIN, MAIL]);
    expect(one.indexer.headFor('default')).toBeUndefined();
    const before = one.indexer.revision;
    const version = await one.rebuild();
    expect(version.selfCheck?.heads).toEqual({ learnt: 1, used: true });
    expect(one.indexer.revision).toBeGreaterThan(before);
    const rain = (await logits(one, RAIN.name))?.[0] ?? 0;
    expect(rain).toBeGreaterThan((await logits(one, MAIL.name))?.[0] ?? 99);
    await one.register([{ name: 'light.turn.on' }]);
    await one.rebuild();
    expect(one.trainer.asked).toHaveLength(1);
    expect((await logits(one, RAIN.name))?.[0]).toBe(rain);
  });

  it('need two capabilities with four phrases each', async () => {
    const one = await rig();
    await one.register([RAIN, { ...MAIL, examples: MAIL.examples.slice(1) }]);
    const version = await one.rebuild();
    expect(one.trainer.asked).toEqual([]);
    expect(version.selfCheck?.heads).toBeUndefined();
    expect(one.indexer.headFor('default')).toBeUndefined();
  });

  it('answer the same bits after a restart, learnt from nothing', async () => {
    const first = await rig();
    await first.register([RAIN, MAIL]);
    await first.rebuild();
    const before = [await logits(first, RAIN.name), await logits(first, MAIL.name)];
    const second = await rig({ store: first.kept, dir: first.dir });
    await second.register([RAIN, MAIL]);
    expect(before[0]).toBeDefined();
    expect([await logits(second, RAIN.name), await logits(second, MAIL.name)]).toEqual(before);
    expect(second.trainer.asked).toEqual([]);
  });

  it('go back with a rollback, and forward with the next version', async () => {
    const one = await rig();
    await one.register([RAIN, MAIL]);
    const { id } = await one.rebuild();
    const old = await logits(one, RAIN.name);
    await one.register([NEWS]);
    await one.rebuild();
    const next = await logits(one, RAIN.name);
    expect(next).not.toEqual(old);
    expect(await logits(one, NEWS.name)).not.toContain(null);
    await one.desk.rollback({ version: id, by: 'test' });
    expect(await logits(one, RAIN.name)).toEqual(old);
    expect(await logits(one, NEWS.name)).toEqual([null, null, null]);
    const restarted = await rig({ store: one.kept, dir: one.dir });
    await restarted.register([RAIN, MAIL, NEWS]);
    expect(await logits(restarted, RAIN.name)).toEqual(old);
  });

  it('say nothing of a capability whose phrases became others, until the next version', async () => {
    const one = await rig();
    await one.register([RAIN, MAIL]);
    await one.rebuild();
    const before = await logits(one, RAIN.name);
    await one.register([{ ...RAIN, examples: [...RAIN.examples, 'drizzle ahead'] }]);
    expect(await logits(one, RAIN.name)).toEqual(before);
    await one.register([{ ...RAIN, examples: ['sunny', 'hot sun', 'sunshine today', 'how much sun'] }]);
    expect(await logits(one, RAIN.name)).toContain(null);
    expect(await logits(one, MAIL.name)).not.toContain(null);
    await one.rebuild();
    expect(await logits(one, RAIN.name)).not.toContain(null);
  });

  it('are not used where golden lines would get worse by them, also after a restart', async () => {
    const one = await rig();
    await one.register([RAIN, MAIL]);
    await one.golden.put([{ text: 'will it rain', capability: RAIN.name }]);
    expect((await one.rebuild()).selfCheck?.heads).toEqual({ learnt: 1, used: true });
    one.trainer.twist = true;
    await one.register([NEWS]);
    const version = await one.rebuild();
    expect(version.selfCheck).toMatchObject({ heads: { learnt: 1, used: false }, golden: { right: 1, lines: 1 } });
    expect(one.indexer.headFor('default')).toBeUndefined();
    expect(await one.answer('will it rain')).toBe(RAIN.name);
    const restarted = await rig({ store: one.kept, dir: one.dir });
    await restarted.register([RAIN, MAIL, NEWS]);
    expect(restarted.indexer.headFor('default')).toBeUndefined();
  });

  it('bring ranking weights along, over a restart, unless golden lines would get worse by them', async () => {
    const one = await rig();
    one.trainer.ranking = { head: 4.5, best: 1 / 3 };
    await one.register([RAIN, MAIL]);
    await one.golden.put([{ text: 'will it rain', capability: RAIN.name }]);
    await one.rebuild();
    const restarted = await rig({ store: one.kept, dir: one.dir });
    await restarted.register([RAIN, MAIL]);
    for (const { indexer } of [one, restarted]) {
      expect(indexer.headFor('default')?.ranking).toEqual({ head: 4.5, best: 1 / 3 });
    }
    one.trainer.ranking = { head: -10 };
    await one.register([NEWS]);
    expect((await one.rebuild()).selfCheck).toMatchObject({ heads: { learnt: 1, used: false }, golden: { right: 1 } });
    expect(await one.answer('will it rain')).toBe(RAIN.name);
  });

  it('bring thresholds along, which the caller and later phrases overrule', async () => {
    const one = await rig();
    one.trainer.thresholds = { [RAIN.name]: 5 / 3 };
    await one.register([RAIN, MAIL]);
    await one.rebuild();
    const restarted = await rig({ store: one.kept, dir: one.dir });
    await restarted.register([RAIN, MAIL]);
    for (const { indexer } of [one, restarted]) {
      expect(indexer.thresholdOf('default', RAIN.name)).toBe(5 / 3);
      expect(indexer.thresholdOf('default', MAIL.name)).toBe(1);
      expect(indexer.thresholdOf('elsewhere', RAIN.name)).toBe(1);
    }
    await one.register([{ ...RAIN, examples: ['sunny', 'hot sun', 'sunshine today', 'how much sun'] }]);
    expect(one.indexer.thresholdOf('default', RAIN.name)).toBe(1);
  });

  it('refuse a version whose head was changed on the disk', async () => {
    const { writeFile, readFile } = await import('node:fs/promises');
    const one = await rig();
    await one.register([RAIN, MAIL]);
    const { id } = await one.rebuild();
    const path = `${one.dir}/versions/${id}/heads.bin`;
    const bytes = await readFile(path);
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    await writeFile(path, bytes);
    const restarted = await rig({ store: one.kept, dir: one.dir });
    expect(restarted.started.refused).toMatchObject([{ id, problem: expect.stringContaining('heads.bin') }]);
  });
});

describe('what is asked of a capability', () => {
  it('is looked up once for each state of it, since every route asks', () => {
    let looks = 0;
    const entryOf = (examples: readonly string[]): IndexedCapability => {
      const meaning = { namespace: 'default', name: RAIN.name as CapabilityName, sensitive: false };
      const { texts, ...entry } = indexedCapability({ ...meaning, descriptions: [], aliases: [], examples });
      return {
        ...entry,
        get texts() {
          looks++;
          return texts;
        },
      };
    };
    const entry = entryOf(RAIN.examples);
    const phrases = entry.texts.filter(({ kind }) => kind === 'example').map(({ hash }) => hash);
    const score = { head: 1, nearest: 0, phrases: 4 };
    const classes = [{ name: RAIN.name, phrases }];
    const heads = new HeadSet([
      { namespace: 'default', digest: 'd', classes, score, thresholds: { [RAIN.name]: 1.5 } },
    ]);
    const space = new CapabilitySpace(new Bm25Index());
    space.put(entry);
    looks = 0;
    for (let route = 0; route < 10; route++) expect(heads.thresholdOf('default', RAIN.name, space)).toBe(1.5);
    expect(looks).toBe(1);
    space.put(entryOf(['sunny', 'hot sun', 'sunshine today', 'how much sun']));
    for (let route = 0; route < 10; route++) expect(heads.thresholdOf('default', RAIN.name, space)).toBe(1);
    expect(heads.thresholdOf('elsewhere', RAIN.name, new CapabilitySpace(new Bm25Index()))).toBe(1);
  });
});

describe('the file of heads', () => {
  it('gives back what was written, bit by bit', () => {
    const axis = (at: number): Float32Array =>
      Float32Array.from({ length: 4 }, (_, i) => (i === at ? 1 : 0.1 / (i + 1)));
    const classes = ['a.b.c', '天气'].map((name, at) => ({ name, phrases: Array(4).fill(axis(at)), anchors: [] }));
    const head = { namespace: '空间', digest: 'd', score: { head: 1, nearest: 0.5, phrases: 8 } };
    const named = classes.map(({ name }) => ({ name, phrases: ['h'] }));
    const weightsOf = (ranking: RankingWeights | undefined): PhraseHeadWeights | undefined => {
      const weights = trainPhraseHead(classes);
      return weights === undefined ? undefined : { ...weights, ranking };
    };
    const learnt = [
      { ...head, classes: named, weights: weightsOf({ head: 0.1 + 0.2 }) },
      { ...head, namespace: 'plain', classes: named, weights: weightsOf(undefined) },
      { ...head, namespace: 'default', classes: [] },
    ];
    expect(decodeHeads(encodeHeads(learnt))).toEqual(learnt);
    expect(decodeHeads(encodeHeads([]))).toEqual([]);
  });
});

describe('thresholds', () => {
  /** What is asked for, where the operator left `minRelevance` as it is: 0.45, so between 0.3 and 0.75. */
  const asked = (own: number[], foreign: number[] = []): number =>
    thresholdFactor({ own, foreign }) * DEFAULT_ROUTING.minRelevance;

  it('ask for more where all own phrases come back surely, within bounds', () => {
    expect(asked([0.99, 0.995, 0.98, 0.99])).toBeCloseTo(0.686, 9);
    expect(asked([0.9, 0.95, 0.8, 0.99])).toBeCloseTo(0.56, 9);
    expect(asked([0.6, 0.95, 0.8, 0.99])).toBeCloseTo(0.45, 9);
  });

  it('ask for less where own phrases come back weakly, unless that lets phrases of others in', () => {
    expect(asked([0.35, 0.95, 0.8, 0.99])).toBeCloseTo(0.35, 9);
    expect(asked([0.05, 0.95, 0.8, 0.99])).toBeCloseTo(0.3, 9);
    expect(asked([0.35, 0.95, 0.8, 0.99], [0.4])).toBeCloseTo(0.45, 9);
    expect(asked([0.35, 0.95, 0.8, 0.99], [0.1, 0.6])).toBeCloseTo(0.35, 9);
  });

  it('never refuse a phrase of their own that the usual minimum would let in', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.45, max: 1, noNaN: true }), { minLength: 4 }), (own) => {
        expect(asked(own)).toBeLessThanOrEqual(Math.min(...own));
      }),
    );
  });

  it('say nothing of few phrases', () => {
    expect(thresholdFactor({ own: [0.9, 0.9, 0.9], foreign: [] })).toBe(1);
  });

  it('are learnt in the thread from phrases that were not seen', async () => {
    const trainer = new HeadTrainer();
    const one = await indexRig({ trainer, calibration: CALIBRATION });
    onTestFinished(one.clean);
    const clear = { name: 'news.read.today', examples: Array.from({ length: 8 }, (_, at) => `read news page ${at}`) };
    const mixed = { name: 'mail.send.message', examples: ['mail anna', 'post it', 'write bob', 'a letter please'] };
    await one.register([clear, mixed]);
    await one.rebuild();
    expect(one.indexer.thresholdOf('default', clear.name)).toBeGreaterThan(1);
    expect(one.indexer.thresholdOf('default', mixed.name)).toBeLessThanOrEqual(1);
  });
});

describe('HeadTrainer', () => {
  it('gives in its own thread what training here gives', async () => {
    const axis = (at: number): Float32Array => Float32Array.from({ length: 4 }, (_, i) => (i === at ? 1 : 0));
    const classes = ['a', 'b'].map((name, at) => ({ name, phrases: Array(4).fill(axis(at)), anchors: [] }));
    const { score, weights } = await new HeadTrainer().train({ classes });
    expect(score).toEqual(crossValidate(classes));
    // No better than the nearest phrase, which is always right here.
    expect(weights).toBeUndefined();
  });

  it('rejects what a stop or its signal cut short', async () => {
    const trainer = new HeadTrainer();
    const training = trainer.train({ classes: [] });
    trainer.stop();
    await expect(training).rejects.toMatchObject({ code: 'AR_ERR_INTERNAL' });
    const interrupt = new AbortController();
    const interrupted = trainer.train({ classes: [] }, interrupt.signal);
    interrupt.abort();
    await expect(interrupted).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
  });
});
