import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldSuffix, lexicalTerms } from '../../src/lexical-index/tokenizer.ts';

const termsOf = (text: string): string[] => lexicalTerms(text, 256);

describe('lexicalTerms', () => {
  it('separates Latin words from the Chinese around them', () => {
    const terms = termsOf('用python写函数');
    expect(terms).toContain('python');
    expect(terms).toContain('函数');
  });

  it('gives every pair of neighbouring Chinese characters, and longer words beside them', () => {
    expect(termsOf('下雨')).toEqual(['下雨']);
    expect(termsOf('去新加坡')).toEqual(['新加坡', '去新', '新加', '加坡']);
  });

  it('keeps a Chinese character that stands alone', () => {
    expect(termsOf('雨 rain')).toEqual(['雨', 'rain']);
  });

  it('reads full width letters as their half width form', () => {
    expect(termsOf('ＤＥＬＥＴＥ')).toEqual(termsOf('delete'));
  });

  it('splits identifiers at humps, underscores, dots and hyphens', () => {
    for (const text of ['send_email', 'sendEmail', 'SendEmail', 'send.email', 'send-email', 'SEND EMAIL']) {
      expect(termsOf(text)).toEqual(['send', 'email']);
    }
    expect(termsOf('HTTPServer')).toEqual(['http', 'server']);
  });

  it('finds nothing in emoji, punctuation, blanks and bare politeness', () => {
    for (const text of ['', '   ', '🎉🎉', '?!…，。', 'please help me', '请 你']) expect(termsOf(text)).toEqual([]);
  });

  it('stops at the limit, and keeps repeated words within it', () => {
    expect(lexicalTerms('alpha beta alpha gamma delta', 2)).toEqual(['alpha', 'beta']);
  });

  it('gives a text and its upper case the same terms when no word has a hump', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9 _.-]{0,60}$/u), (text) => {
        expect(termsOf(text.toUpperCase())).toEqual(termsOf(text));
      }),
    );
  });

  it('never throws and never passes the limit, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 40 }), (text, limit) => {
        expect(lexicalTerms(text, limit).length).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

describe('foldSuffix', () => {
  it.each([
    [['flight', 'flights'], 'flight'],
    [['note', 'notes'], 'note'],
    [['query', 'queries'], 'query'],
    [['search', 'searches'], 'search'],
    [['address', 'addresses'], 'address'],
  ])('folds %j to one form', (forms, stem) => {
    expect(forms.map(foldSuffix)).toEqual(forms.map(() => stem));
  });

  it('leaves words alone whose ending is no suffix', () => {
    expect(['bus', 'status', 'analysis', 'dns', 'red', 'pass', 'gpt4s'].map(foldSuffix)).toEqual([
      'bus',
      'status',
      'analysis',
      'dns',
      'red',
      'pass',
      'gpt4s',
    ]);
  });
});
