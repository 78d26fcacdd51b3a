import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeOf } from '../../../src/routing/strategies/key-place.ts';
import { bindSteps, STRATEGIES } from '../../../src/routing/strategies/strategy-catalog.ts';
import { twoPlaces } from '../../../src/routing/strategies/two-choices.ts';
import { type AgentSketch, seededRandom } from '../agents.ts';
import { Chooser, loaded, stack, weather } from './selection.ts';

const AFFINITY = stack({ name: 'affinity', maxLoad: 0.8 }, 'best');
const KEYS = Array.from({ length: 60 }, (_, i) => `user-${i}`);
const named = (count: number): AgentSketch[] => Array.from({ length: count }, (_, i) => weather(`agent-${i}`));
const owners = (sketches: readonly AgentSketch[], keys = KEYS): string[] => {
  const chooser = new Chooser(sketches, AFFINITY);
  return keys.map((affinityKey) => chooser.choose({ affinityKey }));
};

describe('failure_domain', () => {
  it('stays in the zone of the caller while it has a free agent, and leaves it when not', () => {
    const near = weather('near', { zone: 'hz-1', ...loaded(7) });
    const far = weather('far', { zone: 'sh-1' });
    expect(new Chooser([near, far]).choose({ zone: 'hz-1' })).toBe('near');
    expect(new Chooser([{ ...near, ...loaded(10) }, far]).choose({ zone: 'hz-1' })).toBe('far');
  });

  it('leaves a zone whose agents are over maxLoad, and says so', () => {
    const sketches = [weather('near', { zone: 'hz-1', ...loaded(7) }), weather('far', { zone: 'sh-1' })];
    const chooser = new Chooser(sketches, stack({ name: 'failure_domain', maxLoad: 0.5 }, 'best'));
    const { chosen, strategies } = chooser.select({ zone: 'hz-1', explain: true });
    expect(chosen.agent.record.agentId).toBe('far');
    expect(strategies[0]?.note).toBe('zone hz-1 is over the load of 0.5, all zones stay');
  });

  it('has no opinion where no zone is asked for', () => {
    const { strategies } = new Chooser([weather('a', { zone: 'x' })]).select({ explain: true });
    expect(strategies.map(({ name }) => name)).toEqual(['best']);
  });
});

describe('affinity', () => {
  it('moves only the keys of agents that leave, whoever leaves', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 12 }),
        fc.nat(),
        fc.array(fc.string({ minLength: 1 })),
        (count, at, more) => {
          const all = named(count);
          const gone = `agent-${at % count}`;
          const keys = [...KEYS.slice(0, 40), ...more];
          const before = owners(all, keys);
          const after = owners(
            all.filter(({ id }) => id !== gone),
            keys,
          );
          for (const [i, owner] of before.entries()) if (owner !== gone) expect(after[i]).toBe(owner);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('spills over only the keys of full agents, each to the next of its order, and takes them back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 2, maxLength: 10 }), (loads) => {
        fc.pre(loads.some((active) => active <= 8));
        const idle = named(loads.length);
        const busy = idle.map((one, i) => ({ ...one, ...loaded(loads[i] ?? 0) }));
        const before = owners(idle);
        const spilled = owners(busy);
        const isFull = (id: string): boolean => (loads[Number(id.slice('agent-'.length))] ?? 0) > 8;
        // Next in order is who would own the key were the full ones not there at all.
        const without = owners(idle.filter(({ id }) => !isFull(id)));
        for (const [i, owner] of before.entries()) {
          expect(spilled[i]).toBe(isFull(owner) ? without[i] : owner);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('spreads keys evenly: five agents own 15-25 % each of 3,000', () => {
    const chooser = new Chooser(named(5), AFFINITY);
    const counts = chooser.counts(3_000, (i) => ({ affinityKey: `session-${i}` }));
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(450);
      expect(count).toBeLessThan(750);
    }
  });

  it('keeps a key with its owner where everybody is over the limit', () => {
    const full = named(4).map((one) => ({ ...one, ...loaded(9) }));
    expect(owners(full)).toEqual(owners(named(4)));
  });

  it('prefers the wished agent, spills over when it is full, and tells', () => {
    const sketches = [weather('a'), weather('b', loaded(7))];
    expect(new Chooser(sketches, AFFINITY).choose({ preferredAgentId: 'b' })).toBe('b');
    const busy = new Chooser([weather('a'), weather('b', loaded(9))], AFFINITY);
    const { chosen, strategies } = busy.select({ preferredAgentId: 'b', explain: true });
    expect(chosen.agent.record.agentId).toBe('a');
    expect(strategies[0]).toEqual({ name: 'affinity', note: 'b is preferred but full', kept: 2, dropped: [] });
    const gone = new Chooser([weather('a'), weather('b', loaded(10))], AFFINITY);
    expect(gone.select({ preferredAgentId: 'b', explain: true }).strategies[0]?.note).toBe(
      'b is preferred but no candidate',
    );
  });
});

describe('canary', () => {
  const SHARE = 0.1;
  const TAGGED = { name: 'canary', tag: 'track', value: 'next', share: SHARE } as const;
  const sketches = [weather('old'), weather('old-2'), weather('new', { tags: { track: 'next' } })];
  /** Six standard deviations: a fair draw leaves it once in 500 million runs, and the seed makes each run the same. */
  const within = (count: number, rounds: number, share: number): void => {
    expect(Math.abs(count - rounds * share)).toBeLessThan(6 * Math.sqrt(rounds * share * (1 - share)));
  };

  it('sends its share to the tagged agents, within binomial bounds', () => {
    for (const share of [0.02, 0.1, 0.5, 0.9]) {
      const counts = new Chooser(sketches, stack({ ...TAGGED, share }, 'best')).counts(3_000);
      within(counts.get('new') ?? 0, 3_000, share);
    }
  });

  it('sends its share of keys there, and each key always to the same side', () => {
    const chooser = new Chooser(sketches, stack(TAGGED, 'affinity', 'best'));
    const isNew = (affinityKey: string): boolean => chooser.choose({ affinityKey }) === 'new';
    const keys = Array.from({ length: 3_000 }, (_, i) => `session-${i}`);
    const first = keys.map(isNew);
    expect(keys.map(isNew)).toEqual(first);
    within(first.filter(Boolean).length, keys.length, SHARE);
  });

  it('lets no key out when the share rises', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const at = (share: number) => new Chooser(sketches, stack({ ...TAGGED, share }, 'affinity', 'best'));
        const [before, after] = [at(low), at(high)];
        for (const affinityKey of KEYS.slice(0, 60)) {
          if (before.choose({ affinityKey }) === 'new') expect(after.choose({ affinityKey })).toBe('new');
        }
      }),
      { numRuns: 30 },
    );
  });

  it('sends none at 0 and all at 1, while there are others', () => {
    expect(new Chooser(sketches, stack({ ...TAGGED, share: 0 }, 'best')).counts(200).get('new')).toBeUndefined();
    expect([...new Chooser(sketches, stack({ ...TAGGED, share: 1 }, 'best')).counts(200)]).toEqual([['new', 200]]);
    expect(new Chooser(sketches.slice(2), stack({ ...TAGGED, share: 0 }, 'best')).choose()).toBe('new');
  });

  it('goes by version, with a * for any rest', () => {
    const versions = [weather('v1', { version: '1.9.0' }), weather('v2', { version: '2.0.1' })];
    const share = 1;
    expect(new Chooser(versions, stack({ name: 'canary', version: '2.*', share }, 'best')).choose()).toBe('v2');
    expect(new Chooser(versions, stack({ name: 'canary', version: '1.9.0', share }, 'best')).choose()).toBe('v1');
    // Nobody has it: nobody is dropped.
    expect(new Chooser(versions, stack({ name: 'canary', version: '2.0', share }, 'best')).counts(100).size).toBe(2);
  });

  it('lets a preferred agent through, whatever its side', () => {
    const options = stack({ ...TAGGED, share: 1 }, 'affinity', 'best');
    expect(new Chooser(sketches, options).choose({ preferredAgentId: 'old-2' })).toBe('old-2');
  });
});

describe('two choices', () => {
  it('are two different places, each pair as likely', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 50 }), fc.integer(), (count, seed) => {
        const random = seededRandom(seed);
        for (let i = 0; i < 20; i++) {
          const [a, b] = twoPlaces(count, random);
          expect(a).not.toBe(b);
          for (const place of [a, b]) expect(place >= 0 && place < count).toBe(true);
        }
      }),
    );
    const random = seededRandom(5);
    const pairs = new Map<string, number>();
    for (let i = 0; i < 6_000; i++) {
      const pair = [...twoPlaces(4, random)].sort().join();
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    }
    expect(pairs.size).toBe(6);
    for (const count of pairs.values()) expect(Math.abs(count - 1_000)).toBeLessThan(180);
  });

  it('stay in the list where the source of randomness answers 1', () => {
    expect(twoPlaces(3, () => 1)).toEqual([2, 1]);
  });
});

describe('the place of a key', () => {
  it('is even: 16,000 similar keys fill sixteen drawers within 15 %', () => {
    const drawers = new Array<number>(16).fill(0);
    for (let i = 0; i < 16_000; i++) {
      const drawer = Math.floor(placeOf(`agent-${i % 8}\nuser-${i}`) * 16);
      drawers[drawer] = (drawers[drawer] ?? 0) + 1;
    }
    for (const count of drawers) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it('is in 0..1 for any text and does not change from version to version', () => {
    fc.assert(fc.property(fc.string(), (text) => placeOf(text) >= 0 && placeOf(text) < 1));
    expect(placeOf('agent-1\nuser-1')).toBe(placeOf('agent-1\nuser-1'));
    expect(placeOf('agent-1\nuser-1').toFixed(12)).toBe('0.493661411967');
  });
});

describe('every strategy of the catalogue', () => {
  it('answers some of the candidates it was given, never others, and a draw answers one', () => {
    const sketch = fc.record({
      zone: fc.constantFrom('hz', 'sh'),
      active: fc.integer({ min: 0, max: 9 }),
      tag: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(sketch, { minLength: 1, maxLength: 12 }), fc.integer(), (rows, seed) => {
        const sketches = rows.map(({ zone, active, tag }, i) =>
          weather(`agent-${i}`, { zone, ...loaded(active), tags: tag ? { track: 'next' } : {} }),
        );
        for (const row of STRATEGIES.values()) {
          const parameters = row.name === 'canary' ? { tag: 'track', value: 'next', share: 0.5 } : {};
          const chooser = new Chooser(sketches, stack({ name: row.name, ...parameters }), seed);
          const request = { explain: true, zone: 'hz', affinityKey: 'k' } as const;
          const { chosen, strategies } = chooser.select(request);
          expect(sketches.map(({ id }) => id)).toContain(chosen.agent.record.agentId);
          expect(strategies.at(-1)?.kept).toBe(1);
          for (const { kept } of strategies) expect(kept).toBeGreaterThan(0);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('has a description for itself and for each parameter', () => {
    for (const { about, parameters } of STRATEGIES.values()) {
      expect(about.length).toBeGreaterThan(10);
      for (const schema of Object.values(parameters.shape)) {
        expect((schema as { description?: string }).description?.length).toBeGreaterThan(10);
      }
    }
  });

  it('refuses a name that is not there', () => {
    expect(() => bindSteps(['afinity'])).toThrow('there is no strategy "afinity"');
  });
});
