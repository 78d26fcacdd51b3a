import { describe, expect, it } from 'vitest';
import { DEFAULT_ROUTING } from '../../../src/routing/routing-options.ts';
import { Chooser, loaded, stack, weather } from './selection.ts';

describe('select', () => {
  it('shares equal agents evenly: four take 15-35 % each of 1,000 routes', () => {
    const counts = new Chooser(['a', 'b', 'c', 'd'].map((id) => weather(id))).counts(1_000);
    expect([...counts.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(150);
      expect(count).toBeLessThan(350);
    }
  });

  it('always takes the best where scores differ', () => {
    expect([...new Chooser([weather('idle', loaded(0)), weather('busy', loaded(4))]).counts(100)]).toEqual([
      ['idle', 100],
    ]);
  });

  it('counts scores within the margin as equal, and prefers the less loaded of two of them', () => {
    const sketches = [weather('idle', loaded(0)), weather('half', loaded(5)), weather('more', loaded(7))];
    const counts = new Chooser(sketches, stack({ name: 'best', within: 0.16 })).counts(300);
    // Two of the three are drawn, so the busiest is never taken and the idle one loses where it is not drawn.
    expect(counts.get('more')).toBeUndefined();
    expect(counts.get('idle')).toBe(300);
    const wide = new Chooser(sketches, stack({ name: 'best', within: 0.3 })).counts(300);
    expect(wide.get('more')).toBeUndefined();
    expect(wide.get('half')).toBeGreaterThan(60);
  });

  it('takes of more than twenty the less loaded of two of the five least loaded', () => {
    const many = Array.from({ length: 25 }, (_, i) => weather(`a${String(i).padStart(2, '0')}`, loaded(i, 100)));
    const counts = new Chooser(many).counts(1_000);
    expect([...counts.keys()].sort()).toEqual(['a00', 'a01', 'a02', 'a03']);
    // The chance to be the less loaded of two different ones of five: 4, 3, 2 and 1 of ten pairs.
    for (const [i, share] of [0.4, 0.3, 0.2, 0.1].entries()) {
      expect(Math.abs((counts.get(`a0${i}`) ?? 0) / 1_000 - share)).toBeLessThan(0.06);
    }
  });

  it('spreads over all where more than twenty are equally loaded', () => {
    const equal = Array.from({ length: 25 }, (_, i) => weather(`a${i}`));
    expect(new Chooser(equal).counts(2_000).size).toBe(25);
  });

  it('weighs by free slots with capacity_first, in the stack or asked for by the request', () => {
    const sketches = [weather('big', { maxConcurrency: 30 }), weather('small', { maxConcurrency: 10 })];
    for (const counts of [
      new Chooser(sketches, stack('capacity_first')).counts(1_000),
      new Chooser(sketches, stack('best')).counts(1_000, () => ({ strategy: 'capacity_first' })),
    ]) {
      expect(counts.get('big')).toBeGreaterThan(650);
      expect(counts.get('big')).toBeLessThan(850);
    }
  });

  it('keeps the parameters of a draw that the request names and the stack has', () => {
    const sketches = [weather('idle', loaded(0)), weather('half', loaded(5)), weather('more', loaded(7))];
    const wide = stack({ name: 'best', within: 0.3 });
    expect(new Chooser(sketches, wide).counts(200, () => ({ strategy: 'best' })).size).toBe(2);
  });

  it('explains what each step kept and dropped, and why, and tells nothing unasked', () => {
    const sketches = [
      weather('near', { zone: 'hz' }),
      weather('near-2', { zone: 'hz' }),
      weather('far', { zone: 'sh' }),
    ];
    const chooser = new Chooser(sketches);
    const { chosen, strategies } = chooser.select({ explain: true, zone: 'hz', affinityKey: 'user-1' });
    const owner = chosen.agent.record.agentId;
    const other = owner === 'near' ? 'near-2' : 'near';
    expect(strategies).toEqual([
      { name: 'failure_domain', note: '2 of 3 are in zone hz', kept: 2, dropped: ['far'] },
      { name: 'affinity', note: `${owner} owns this affinity key`, kept: 1, dropped: [other] },
      { name: 'best', note: 'the only candidate', kept: 1, dropped: [] },
    ]);
    expect(chooser.select({ zone: 'hz' }).strategies).toEqual([]);
  });

  it('chooses the same agent with explain as without', () => {
    const sketches = ['a', 'b', 'c', 'd'].map((id) => weather(id, { tags: id < 'c' ? { track: 'next' } : {} }));
    const options = stack({ name: 'canary', tag: 'track', value: 'next', share: 0.5 }, 'affinity', 'best');
    const plain = new Chooser(sketches, options, 11);
    const told = new Chooser(sketches, options, 11);
    for (let i = 0; i < 100; i++) expect(told.choose({ explain: true })).toBe(plain.choose());
  });

  it('has the stack of the design by default', () => {
    expect(DEFAULT_ROUTING.strategies.map(({ name }) => name)).toEqual(['failure_domain', 'affinity', 'best']);
  });
});
