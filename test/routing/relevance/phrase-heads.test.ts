import { describe, expect, it } from 'vitest';
import type { CapabilityMeaning } from '../../../src/capability/index.ts';
import { type CapabilityName, ManualClock } from '../../../src/core/index.ts';
import { HashEmbedder } from '../../../src/embedding/index.ts';
import { Bm25Index } from '../../../src/lexical-index/index.ts';
import { CapabilityIndexer, HeadTrainer, PhraseHeads } from '../../../src/routing/index.ts';
import { crossValidate, type PhraseClass, trainPhraseHead } from '../../../src/routing/relevance/phrase-head.ts';
import { KeyValueVectorStore, MemoryStore } from '../../../src/storage/index.ts';
import { LayeredIndex } from '../../../src/vector-index/index.ts';

function meaning(name: string, examples: readonly string[]): CapabilityMeaning {
  const empty = { namespace: 'default', descriptions: [], aliases: [], sensitive: false };
  return { ...empty, name: name as CapabilityName, examples: [...examples].sort() };
}

const RAIN = ['will it rain today', 'is rain coming', 'rain tomorrow or not', 'how much rain'];
const MAIL = ['mail my boss', 'send mail to anna', 'write a mail', 'mail the report'];

/** Trains in this thread and always wins, so that a test waits for nothing but promises. */
class TrainerHere {
  readonly asked: (readonly PhraseClass[])[] = [];
  isStopped = false;

  async train(classes: readonly PhraseClass[]) {
    this.asked.push(classes);
    return { score: { head: 1, nearest: 0, phrases: 8 }, weights: trainPhraseHead(classes) };
  }

  stop(): void {
    this.isStopped = true;
  }
}

async function rig() {
  const clock = new ManualClock();
  const embedder = new HashEmbedder();
  await embedder.start();
  const indexer = new CapabilityIndexer({
    clock,
    embedder,
    vectorStore: new KeyValueVectorStore(new MemoryStore()),
    vectors: new LayeredIndex(embedder.info.dimensions),
    createLexicalIndex: () => new Bm25Index(),
    nearDuplicateSimilarity: 0.93,
  });
  await indexer.start();
  const trainer = new TrainerHere();
  const heads = new PhraseHeads({ clock, indexer, trainer });
  indexer.useHeads(heads);
  const say = async (...meanings: CapabilityMeaning[]): Promise<void> => {
    await indexer.prepare(meanings);
    indexer.apply(meanings);
  };
  const quiet = async (): Promise<void> => {
    clock.advance(2_000);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  const [query = new Float32Array()] = await embedder.embed(['will rain fall'], { kind: 'query' });
  return { clock, indexer, trainer, heads, say, quiet, query };
}

describe('PhraseHeads', () => {
  it('learns once changes are quiet, and makes old recalls out of date', async () => {
    const { indexer, say, quiet, query } = await rig();
    await say(meaning('weather.query.rain', RAIN), meaning('mail.send.message', MAIL));
    expect(indexer.headFor('default')).toBeUndefined();
    const before = indexer.revision;
    await quiet();
    const head = indexer.headFor('default');
    expect(head?.logit('weather.query.rain', query)).toBeGreaterThan(head?.logit('mail.send.message', query) ?? 99);
    expect(indexer.revision).toBeGreaterThan(before);
  });

  it('leaves out capabilities with fewer than four phrases, and learns nothing from one', async () => {
    const { indexer, trainer, say, quiet } = await rig();
    await say(meaning('weather.query.rain', RAIN), meaning('mail.send.message', MAIL.slice(1)));
    indexer.headFor('default');
    await quiet();
    expect(trainer.asked).toEqual([]);
    expect(indexer.headFor('default')).toBeUndefined();
  });

  it('does not learn the same phrases twice', async () => {
    const { indexer, trainer, say, quiet } = await rig();
    await say(meaning('weather.query.rain', RAIN), meaning('mail.send.message', MAIL));
    indexer.headFor('default');
    await quiet();
    await say(meaning('news.read.today', []));
    indexer.headFor('default');
    await quiet();
    expect(trainer.asked).toHaveLength(1);
  });

  it('drops the head with the phrases that it was learnt from, and stops with the indexer', async () => {
    const { indexer, trainer, say, quiet } = await rig();
    await say(meaning('weather.query.rain', RAIN), meaning('mail.send.message', MAIL));
    indexer.headFor('default');
    await quiet();
    expect(indexer.headFor('default')).toBeDefined();
    indexer.remove('default', 'mail.send.message');
    indexer.headFor('default');
    await quiet();
    expect(indexer.headFor('default')).toBeUndefined();
    indexer.stop();
    expect(trainer.isStopped).toBe(true);
  });
});

describe('HeadTrainer', () => {
  it('gives in its own thread what training here gives', async () => {
    const axis = (at: number): Float32Array => Float32Array.from({ length: 4 }, (_, i) => (i === at ? 1 : 0));
    const classes = ['a', 'b'].map((name, at) => ({ name, phrases: Array(4).fill(axis(at)), anchors: [] }));
    const { score, weights } = await new HeadTrainer().train(classes);
    expect(score).toEqual(crossValidate(classes));
    // No better than the nearest phrase, which is always right here.
    expect(weights).toBeUndefined();
  });

  it('rejects what a stop cut short', async () => {
    const trainer = new HeadTrainer();
    const training = trainer.train([]);
    trainer.stop();
    await expect(training).rejects.toMatchObject({ code: 'AR_ERR_INTERNAL' });
  });
});
