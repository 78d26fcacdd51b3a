import { afterEach, describe, expect, it, vi } from 'vitest';
import { canonicalText } from '../../src/core/index.ts';
import { lexicalTerms } from '../../src/lexical-index/tokenizer.ts';
import { MAX_DENIED, negationOf } from '../../src/routing/intent-negation.ts';
import { MAX_PIECES, piecesOf } from '../../src/routing/intent-pieces.ts';

/** Characters that regular expressions read of their texts: what reading an intent costs, the same on any machine. */
function charactersRead(work: () => void): number {
  const { exec } = RegExp.prototype;
  let read = 0;
  vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const found = exec.call(this, text);
    read += (found === null ? text.length : found.index + found[0].length) - from;
    return found;
  });
  work();
  vi.restoreAllMocks();
  return read;
}

afterEach(() => void vi.restoreAllMocks());

const LENGTH = 2_000;
const long = (part: string): string => canonicalText(part.repeat(LENGTH / part.length));

describe('the longest intent', () => {
  it.each([
    '不要删除这个文件',
    '不要删除文件甲,',
    '除了甲,',
    '别',
    '不要a',
    '不是a而',
    "don't delete it, ",
    'is not ',
    'except x, ',
    'a,',
    ',',
    'abc. ',
    'a and ',
    '然后',
    '如果,',
    'book a flight, then ',
    '请帮我订一张去北京的机票,',
  ])('costs little to read, whatever it repeats: %s', (part) => {
    const text = long(part);
    expect(charactersRead(() => negationOf(text))).toBeLessThan(5_000 * LENGTH);
    expect(charactersRead(() => piecesOf(text))).toBeLessThan(50 * LENGTH);
    expect(charactersRead(() => lexicalTerms(text, 256))).toBeLessThan(50 * LENGTH);
  });

  it('asks the model for few of the texts that it holds', () => {
    const many = Array.from({ length: 200 }, (_, i) => `不要第${i}个`).join(',');
    const negation = negationOf(canonicalText(many));
    expect(negation?.denied).toHaveLength(MAX_DENIED);
    expect(negation?.rest ?? '').not.toContain('第20个');
    expect(piecesOf(long('book a flight, then ')).length).toBeLessThanOrEqual(MAX_PIECES);
  });

  it('is read at its end too where only that denies something', () => {
    const text = canonicalText(`${'please list all of my files again. '.repeat(50)}do not delete the folder`);
    expect(negationOf(text)?.denied).toEqual([{ text: 'delete the folder', isOrder: true }]);
  });

  it('loses its loose ends, however many', () => {
    expect(negationOf(`${'and, '.repeat(100)}list files${' and,'.repeat(100)} 不要删除`)?.rest).toBe('list files');
  });
});
