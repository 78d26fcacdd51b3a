import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldChinese } from '../../src/core/index.ts';
import { lexicalTerms } from '../../src/lexical-index/index.ts';

describe('foldChinese', () => {
  it.each([
    ['取消我的鬧鐘', '取消我的闹钟'],
    ['幫我訂一張去北京的機票', '帮我订一张去北京的机票'],
    ['發送電子郵件 to Bob', '发送电子邮件 to Bob'],
    ['著名 weather', '著名 weather'],
  ])('turns "%s" into "%s"', (text, folded) => {
    expect(foldChinese(text)).toBe(folded);
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'發髮发後后裏里著乾幹干台臺鬧a 1') }), (text) => {
        expect(foldChinese(foldChinese(text))).toBe(foldChinese(text));
      }),
    );
  });

  it('gives both writings the same words', () => {
    expect(lexicalTerms('查詢股票行情和價格', 99)).toEqual(lexicalTerms('查询股票行情和价格', 99));
  });
});
