import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from '../../src/core/index.ts';

const FIELDS = ['agentId', 'agentName', 'capabilities', 'heartbeatIntervalMs', 'topK', 'zone'];

describe('nearestName', () => {
  it.each([
    ['agnetId', 'agentId'],
    ['agent_id', 'agentId'],
    ['AGENT-NAME', 'agentName'],
    ['capabilties', 'capabilities'],
    ['heartbeatInterval', 'heartbeatIntervalMs'],
    ['topk', 'topK'],
    ['zon', 'zone'],
  ])('takes %s for %s', (raw, meant) => {
    expect(nearestName(raw, FIELDS)).toBe(meant);
  });

  it.each(['', 'x', 'surprise', '___', 'a'.repeat(65), '区域'])('makes nothing of %j', (raw) => {
    expect(nearestName(raw, FIELDS)).toBeUndefined();
  });

  it('finds the original of any one edit of a name of four letters or more', () => {
    const edited = fc.record({
      name: fc.constantFrom(...FIELDS),
      at: fc.nat(3),
      kind: fc.constantFrom('drop', 'double', 'swap', 'change'),
    });
    fc.assert(
      fc.property(edited, ({ name, at, kind }) => {
        const [letter = '', next = ''] = name.slice(at);
        const put = { drop: '', double: letter + letter, swap: next + letter, change: 'q' }[kind];
        const rest = name.slice(at + (kind === 'swap' ? 2 : 1));
        expect(nearestName(name.slice(0, at) + put + rest, FIELDS)).toBe(name);
      }),
    );
  });
});
