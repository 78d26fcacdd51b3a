import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileConfig, type RunningService, startService } from '../../src/app/index.ts';
import { ask, call, registration } from './client.ts';

/** Each described in one language only. */
const CAPABILITIES = [
  { name: 'weather.query.city', description: '查询一个城市的天气预报' },
  { name: 'mail.send.message', description: 'Send an email to somebody' },
  { name: 'travel.book.flight', description: '预订机票' },
  { name: 'music.play.song', description: 'Play a song or an album' },
  { name: 'food.order.delivery', description: '点外卖' },
  { name: 'text.translate.document', description: 'Translate a text into another language' },
];

let dataDir: string;
let service: RunningService;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-languages-'));
  service = await startService(compileConfig({ http: { port: 0 }, data: { dir: dataDir }, log: { level: 'silent' } }));
  for (const capability of CAPABILITIES) {
    await call(service.url, 'POST', '/v1/agents', registration(`${capability.name}-agent`, [capability]));
  }
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('the bundled model, end to end', () => {
  it.each([
    ['will it rain in Hangzhou tomorrow', 'weather.query.city'],
    ['明天杭州会下雨吗', 'weather.query.city'],
    ['book me a flight to Beijing on Friday', 'travel.book.flight'],
    ['order some food to the office', 'food.order.delivery'],
    ['给老板发一封邮件', 'mail.send.message'],
    ['send an email to my boss', 'mail.send.message'],
    ['放一首周杰伦的歌', 'music.play.song'],
    ['把这段话翻译成英文', 'text.translate.document'],
    ['訂一張去北京的機票', 'travel.book.flight'],
  ])('routes "%s" to %s', async (intent, capability) => {
    const { status, body } = await ask(service.url, intent);
    expect(status).toBe(200);
    expect(body).toMatchObject({ decision: 'route', capability, matchedBy: 'semantic', degraded: false });
  });

  it.each(['what is the meaning of life', 'asdfgh qwerty zxcvb', '今天心情不错'])(
    'says no_match to "%s"',
    async (intent) => {
      expect((await ask(service.url, intent)).body).toMatchObject({ decision: 'no_match', agent: null });
    },
  );

  it('answers a batch of both languages in order', async () => {
    const intents = ['明天杭州会下雨吗', 'send an email to my boss', '放一首周杰伦的歌'];
    const requests = intents.map((intent) => ({ intent }));
    const { body } = await call(service.url, 'POST', '/v1/route/batch', { requests });
    expect(body.results.map((one: { capability: string }) => one.capability)).toEqual([
      'weather.query.city',
      'mail.send.message',
      'music.play.song',
    ]);
  });

  it('shares equal agents evenly over 1,000 routes', async () => {
    for (const id of ['a', 'b', 'c']) {
      await call(service.url, 'POST', '/v1/agents', registration(`weather-${id}`, [CAPABILITIES[0]]));
    }
    const counts = new Map<string, number>();
    for (let i = 0; i < 4; i++) {
      const requests = Array.from({ length: 250 }, () => ({ intent: '明天杭州会下雨吗', topK: 1 }));
      const { body } = await call(service.url, 'POST', '/v1/route/batch', { requests });
      for (const { agent } of body.results) counts.set(agent.agentId, (counts.get(agent.agentId) ?? 0) + 1);
    }
    expect(counts.size).toBe(4);
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(150);
      expect(count).toBeLessThan(350);
    }
  });
});
