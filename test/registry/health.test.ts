import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AgentState, agentStateSchema, type HeartbeatStatus } from '../../src/contract/index.ts';
import { type HealthFacts, isHealthy, isLapsed, isRoutable, isUnanswered, stateOf } from '../../src/registry/health.ts';

const WELL: HealthFacts = {
  isCordoned: false,
  isOffline: false,
  isEjected: false,
  isDraining: false,
  isSuspect: false,
  status: 'healthy',
};

/** Strongest first. */
const PRECEDENCE: readonly (readonly [AgentState, Partial<HealthFacts>])[] = [
  ['cordoned', { isCordoned: true }],
  ['offline', { isOffline: true }],
  ['ejected', { isEjected: true }],
  ['draining', { isDraining: true }],
  ['busy', { status: 'busy' }],
  ['suspect', { isSuspect: true }],
  ['online', {}],
];

describe('the state', () => {
  test.each(PRECEDENCE)('is %s for that fact alone', (state, facts) => {
    expect(stateOf({ ...WELL, ...facts })).toBe(state);
  });

  test('is that of the strongest fact, whatever the others', () => {
    const facts = fc.record({
      isCordoned: fc.boolean(),
      isOffline: fc.boolean(),
      isEjected: fc.boolean(),
      isDraining: fc.boolean(),
      isSuspect: fc.boolean(),
      status: fc.constantFrom<HeartbeatStatus>('healthy', 'busy'),
    });
    fc.assert(
      fc.property(facts, (all) => {
        const strongest = PRECEDENCE.find(([, wanted]) =>
          Object.entries(wanted).every(([name, value]) => all[name as keyof HealthFacts] === value),
        );
        expect(stateOf(all)).toBe(strongest?.[0]);
      }),
    );
  });

  test("is draining by the agent's own word as by an operator's", () => {
    expect(stateOf({ ...WELL, status: 'draining' })).toBe('draining');
  });

  test('is one of the contract, each of them reached', () => {
    expect(PRECEDENCE.map(([state]) => state).sort()).toEqual([...agentStateSchema.options].sort());
  });
});

test('counts online and suspect as routable, online and busy as well', () => {
  expect(agentStateSchema.options.filter(isRoutable)).toEqual(['online', 'suspect']);
  expect(agentStateSchema.options.filter(isHealthy)).toEqual(['online', 'busy']);
});

test('knows whom a probe did not reach and whose lease ran out, as long as it is suspect', () => {
  const suspicion = { cause: 'silence', at: 0, isLapsed: false } as const;
  const probe = { at: 0, isAnswered: false, detail: '' };
  expect(isUnanswered({ suspicion, probe: null })).toBe(false);
  expect(isUnanswered({ suspicion, probe: { ...probe, isAnswered: true } })).toBe(false);
  expect(isUnanswered({ suspicion, probe })).toBe(true);
  expect(isUnanswered({ suspicion: null, probe })).toBe(false);
  expect([isLapsed({ suspicion }), isLapsed({ suspicion: { ...suspicion, isLapsed: true } })]).toEqual([false, true]);
  expect(isLapsed({ suspicion: null })).toBe(false);
});
