import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalText } from '../../src/core/index.ts';
import { relevanceOf } from '../../src/embedding/calibration.ts';
import { DEFAULT_MODEL_ID, loadCalibration, modelById, TransformersEmbedder } from '../../src/embedding/index.ts';
import { Bm25Index } from '../../src/lexical-index/index.ts';

/** The bundled model with its calibration, on a registry as a newcomer would fill it: some of it English, some Chinese. */
const REGISTRY: Readonly<Record<string, string>> = {
  'weather.query.city': 'Weather forecast for a city',
  'mail.send.message': 'Send an email',
  'calendar.create.event': 'Create a calendar event',
  'finance.query.stock': '查询股票行情和价格',
  'food.order.delivery': '点外卖，把餐食送到家',
  'translate.text.document': '把文字翻译成另一种语言',
  'travel.book.flight': 'Book a plane ticket',
  'music.play.song': '播放歌曲和音乐',
};
/** The plain line is coarser than the weights that serve: it must tell the two kinds apart, no more. */
const MIN_RELEVANCE = 0.4;

interface Match {
  readonly name: string;
  readonly relevance: number;
}

const model = modelById(DEFAULT_MODEL_ID);
const { calibration } = await loadCalibration(model);
const embedder = new TransformersEmbedder({ model });
const words = new Bm25Index();
const vectors = new Map<string, Float32Array[]>();

const dot = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);

async function best(intent: string, isModelUp = true): Promise<Match> {
  const text = canonicalText(intent);
  const [asked = new Float32Array()] = isModelUp ? await embedder.embed([text], { kind: 'query' }) : [];
  const scores = new Map(words.search(text, 32).map((hit) => [hit.id, hit.score]));
  const matches = [...vectors].map(([name, own]) => ({
    name,
    relevance: relevanceOf(calibration, {
      similarity: isModelUp ? Math.max(...own.map((vector) => dot(asked, vector))) : null,
      lexicalScore: scores.get(name) ?? 0,
      capabilityCount: vectors.size,
    }),
  }));
  return matches.reduce((left, right) => (right.relevance > left.relevance ? right : left));
}

describe('calibration of the bundled model', () => {
  beforeAll(async () => {
    await embedder.start();
    for (const [name, description] of Object.entries(REGISTRY)) {
      const nameText = name.replaceAll('.', ' ');
      words.upsert({ id: name, name: nameText, aliases: [], descriptions: [description], examples: [] });
      vectors.set(name, await embedder.embed([nameText, description], { kind: 'document' }));
    }
  }, 60_000);

  afterAll(() => embedder.stop());

  it.each([
    ['明天杭州会下雨吗', 'weather.query.city'],
    ['will it rain in Hangzhou tomorrow', 'weather.query.city'],
    ['给老板发封邮件', 'mail.send.message'],
    ['send an email to my boss', 'mail.send.message'],
    ['订一张去北京的机票', 'travel.book.flight'],
    ['book me a flight to Beijing', 'travel.book.flight'],
    ['把这段话翻译成英文', 'translate.text.document'],
    ['translate this paragraph into French', 'translate.text.document'],
    ['play some jazz', 'music.play.song'],
    ['放一首周杰伦的歌', 'music.play.song'],
    ['what is the price of Apple shares', 'finance.query.stock'],
    ['我想点一份外卖', 'food.order.delivery'],
    ['明天下午三点安排一个会议', 'calendar.create.event'],
  ])('routes "%s" to %s', async (intent, name) => {
    const match = await best(intent);
    expect(match.name).toBe(name);
    expect(match.relevance).toBeGreaterThanOrEqual(MIN_RELEVANCE);
  });

  it.each([
    'what is the meaning of life',
    'asdfgh qwerty',
    '今天心情不错',
    'how do I fix a flat tire',
    '推荐一本关于历史的书',
    '怎么给孩子起名字',
    'my knee hurts',
  ])('finds nothing for "%s"', async (intent) => {
    const match = await best(intent);
    expect(match.relevance).toBeLessThan(MIN_RELEVANCE);
  });

  it.each([
    ['send an email to my boss', 'mail.send.message'],
    ['book me a flight to Beijing', 'travel.book.flight'],
    ['把这段话翻译成英文', 'translate.text.document'],
    ['play some jazz', 'music.play.song'],
  ])('routes "%s" to %s by words alone', async (intent, name) => {
    const match = await best(intent, false);
    expect(match.name).toBe(name);
    expect(match.relevance).toBeGreaterThanOrEqual(MIN_RELEVANCE);
  });

  it('finds nothing by words alone where no word meets', async () => {
    expect((await best('给老板发封邮件', false)).relevance).toBeLessThan(MIN_RELEVANCE);
  });
});
