import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearDuplicateNames } from '../../src/capability/name-lint.ts';
import { NearNameIndex } from '../../src/capability/near-name-index.ts';

/** Few letters, so that near names are common. */
const segment = fc.string({ unit: fc.constantFrom('a', 'b', '1'), maxLength: 2 });
const name = fc.tuple(segment, segment, segment).map(([first, second, third]) => `a${first}.b${second}.c${third}`);

describe('NearNameIndex', () => {
  it('misses no name that comparing with all of them finds', () => {
    let near = 0;
    fc.assert(
      fc.property(fc.array(name, { minLength: 30, maxLength: 60 }), name, (known, asked) => {
        const index = new NearNameIndex();
        for (const one of known) index.add(one);
        const truth = nearDuplicateNames(asked, new Set(known));
        near += truth.length;
        expect(nearDuplicateNames(asked, index.candidates(asked))).toEqual(truth);
      }),
    );
    expect(near).toBeGreaterThan(20);
  });

  it.each([
    ['mail.send.message', 'mail.send.messages'],
    ['mail.send.message', 'mail.sned.message'],
    ['mail.send.message', 'mai.lsend.message'],
    ['mail.send.message', 'send.mail.message'],
    ['mail.send.message', 'message.send.mail'],
    ['mail.send.message', 'mail.sent.message'],
    ['mail.send.message', 'amail.send.message'],
    [`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}`, `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(62)}`],
  ])('leads from %s to %s and back', (left, right) => {
    const index = new NearNameIndex();
    for (const one of [left, right, 'weather.query.city']) index.add(one);
    expect([...index.candidates(left)]).toEqual([right]);
    expect([...index.candidates(right)]).toEqual([left]);
  });
});
