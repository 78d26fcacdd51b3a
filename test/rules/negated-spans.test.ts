import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText, foldChinese } from '../../src/core/index.ts';
import { negatedSpans } from '../../src/rules/index.ts';

const read = (text: string): string => foldChinese(canonicalText(text));
const denied = (text: string): string[] =>
  negatedSpans(read(text)).map(({ denied: { start, end } }) => read(text).slice(start, end));
const rest = (text: string): string => {
  let left = read(text);
  for (const { whole } of [...negatedSpans(left)].reverse()) left = left.slice(0, whole.start) + left.slice(whole.end);
  return left.replace(/\s+/g, ' ').trim();
};

describe('what a text asks not to be done', () => {
  it.each([
    ["don't delete, only list", 'delete', ', only list'],
    ['please do not send the email, just save a draft', 'send the email', 'please , just save a draft'],
    ['list files instead of deleting them', 'deleting them', 'list files'],
    ['book a flight without an email confirmation', 'an email confirmation', 'book a flight'],
    ["i don't want to book a hotel, just find flights", 'book a hotel', ', just find flights'],
    ['book a flight but not a hotel', 'a hotel', 'book a flight but'],
    ['show everything except billing', 'billing', 'show everything'],
    ['no need to book a hotel, just a taxi', 'book a hotel', ', just a taxi'],
    ['不要删除，只列出', '删除', ',只列出'],
    ['請不要刪除，只列出', '删除', '请,只列出'],
    ['查天气，不用发邮件', '发邮件', '查天气,'],
    ['我不想订酒店，帮我查机票', '订酒店', '我,帮我查机票'],
    ['不是订票，是退票', '订票', ',是退票'],
    ['把文件列出来而不是删除', '删除', '把文件列出来而'],
    ['除了删除以外，列出所有文件', '删除', ',列出所有文件'],
  ])('%s', (text, told, left) => {
    expect(denied(text)).toEqual([told]);
    expect(rest(text)).toBe(left);
  });

  it.each([
    "don't forget to book a flight",
    '别忘了订票',
    "don't stop the music",
    "why don't you book a hotel",
    '要不要带伞',
    '除了查天气，还要订机票',
  ])('is nothing where two negations, a question or an addition affirm: %s', (text) => {
    expect(denied(text)).toEqual([]);
  });

  it.each([
    "i can't log in",
    '无法登录',
    'why was my card not accepted',
    'my app does not open',
    'i never received my card',
    "i don't understand my bill",
    '我不知道怎么退款',
    '不能删除文件怎么办',
    'it is not raining, is it',
    '别的城市天气',
    'no, book a hotel',
  ])('is nothing where something fails or is told: %s', (text) => {
    expect(denied(text)).toEqual([]);
  });

  it('answers spans of the text in their order, none inside another, whatever the text', () => {
    const words = ['do not', "don't", '不要', '别', 'delete', '删除', ',', '，', 'and', '除了', '以外', 'without', ' '];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (parts) => {
        const text = read(parts.join(' '));
        let at = 0;
        for (const { denied: inner, whole } of negatedSpans(text)) {
          expect(whole.start).toBeGreaterThanOrEqual(at);
          expect(inner.start).toBeGreaterThanOrEqual(whole.start);
          expect(inner.end).toBeGreaterThan(inner.start);
          expect(whole.end).toBeGreaterThanOrEqual(inner.end);
          at = whole.end;
        }
        expect(at).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
