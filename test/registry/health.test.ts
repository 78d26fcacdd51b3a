import { expect, test } from 'vitest';
import { agentStateSchema, type HeartbeatStatus } from '../../src/contract/index.ts';
import { isLegalMove, isRoutable, LEGAL_MOVES, stateOf } from '../../src/registry/health.ts';

const STATUSES: readonly HeartbeatStatus[] = ['healthy', 'busy', 'draining'];

test('follows from the facts, and offline outweighs what the agent says', () => {
  expect(STATUSES.map((status) => stateOf({ isOffline: false, status }))).toEqual(['online', 'busy', 'draining']);
  expect(new Set(STATUSES.map((status) => stateOf({ isOffline: true, status })))).toEqual(new Set(['offline']));
});

test('makes only legal moves between the states it reaches', () => {
  const reached = [true, false].flatMap((isOffline) => STATUSES.map((status) => stateOf({ isOffline, status })));
  for (const from of reached) for (const to of reached) expect(isLegalMove(from, to), `${from} -> ${to}`).toBe(true);
});

test('lets every state end offline, lets no draining or cordoned agent be ejected, and knows all states', () => {
  expect(Object.keys(LEGAL_MOVES).sort()).toEqual([...agentStateSchema.options].sort());
  for (const from of agentStateSchema.options) expect(isLegalMove(from, 'offline')).toBe(true);
  expect(isLegalMove('draining', 'ejected')).toBe(false);
  expect(isLegalMove('cordoned', 'ejected')).toBe(false);
});

test('counts online and suspect as routable, nothing else', () => {
  expect(agentStateSchema.options.filter(isRoutable)).toEqual(['online', 'suspect']);
});
