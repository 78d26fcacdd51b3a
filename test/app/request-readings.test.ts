/** Several intents, and what is not to be done, by the bundled model: both languages, with and without phrases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileConfig, type RunningService, startService } from '../../src/app/index.ts';
import { ask, call, registration } from './client.ts';

const CAPABILITIES = [
  { name: 'weather.query.city', description: 'Weather forecast of a city', examples: ['明天会下雨吗', '查天气'] },
  { name: 'travel.book.flight', description: '预订机票', examples: ['book a flight to London'] },
  { name: 'travel.book.hotel', description: 'Book a hotel room', examples: ['帮我订酒店'] },
  { name: 'mail.send.message', description: 'Send an email to somebody' },
  { name: 'file.list.all', description: 'List the files of a folder', examples: ['列出所有文件'] },
  { name: 'file.delete.one', description: 'Delete a file', examples: ['删除这个文件'] },
  { name: 'text.replace.all', description: 'Search and replace text in a document' },
  { name: 'web.search.page', description: 'Search the web' },
  { name: 'reminder.create.once', description: '设置提醒', examples: ['remind me to call mom'] },
  { name: 'photo.filter.gray', description: 'Make a photo black and white' },
  { name: 'account.login.help', description: 'Help a user who cannot log in', examples: ['登录不上怎么办'] },
  { name: 'card.explain.decline', description: 'Explain why a card payment was declined' },
];

let dataDir: string;
let service: RunningService;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-readings-'));
  service = await startService(compileConfig({ http: { port: 0 }, data: { dir: dataDir }, log: { level: 'silent' } }));
  for (const capability of CAPABILITIES) {
    await call(service.url, 'POST', '/v1/agents', registration(`${capability.name}-agent`, [capability]));
  }
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('the bundled model, asked for several things', () => {
  it.each([
    ['book a flight to Paris and check the weather there', ['travel.book.flight', 'weather.query.city']],
    ['订机票然后查天气', ['travel.book.flight', 'weather.query.city']],
    ['帮我订一张去北京的机票，然后给老板发一封邮件', ['travel.book.flight', 'mail.send.message']],
    ['delete this file, then send an email to my boss', ['file.delete.one', 'mail.send.message']],
  ])('splits "%s"', async (intent, capabilities) => {
    const { body } = await ask(service.url, intent);
    expect(body.decision).toBe('multi_intent');
    expect(body.intents.map((one: { capability: string }) => one.capability)).toEqual(capabilities);
  });

  it.each([
    ['search and replace text in my report', 'text.replace.all'],
    ['比较上海和北京的天气', 'weather.query.city'],
    ['make a black and white photo', 'photo.filter.gray'],
  ])('takes "%s" as one', async (intent, capability) => {
    const { body } = await ask(service.url, intent);
    expect(body.decision).not.toBe('multi_intent');
    expect(body.capability ?? body.alternatives[0].capability).toBe(capability);
  });

  it('does not cut a condition off', async () => {
    expect((await ask(service.url, '如果下雨然后提醒我')).body.decision).not.toBe('multi_intent');
  });
});

describe('the bundled model, told what not to do', () => {
  it.each([
    ["don't delete the files, only list them", 'file.list.all'],
    ['不要删除文件，只列出文件', 'file.list.all'],
    ['不要删除，只列出', 'file.list.all'],
    ["don't delete, only list", 'file.list.all'],
    ["I don't want to book a hotel, just a flight to Rome", 'travel.book.flight'],
    ['我不想订酒店，帮我订机票', 'travel.book.flight'],
    ['list all files instead of deleting them', 'file.list.all'],
    ["don't forget to book the flight", 'travel.book.flight'],
    ['别忘了订机票', 'travel.book.flight'],
    ["I can't log in", 'account.login.help'],
    ['无法登录', 'account.login.help'],
    ['why was my card not accepted', 'card.explain.decline'],
  ])('routes "%s" to %s', async (intent, capability) => {
    expect((await ask(service.url, intent)).body).toMatchObject({ decision: 'route', capability });
  });

  it.each(["don't delete the file", '不要删除文件'])('does not answer "%s" with the deed', async (intent) => {
    const { body } = await ask(service.url, intent);
    expect(body.capability).not.toBe('file.delete.one');
    expect(JSON.stringify(body.alternatives)).not.toContain('file.delete.one');
  });
});
