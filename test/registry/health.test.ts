import { expect, test } from 'vitest';
import { type AgentState, agentStateSchema, type HeartbeatStatus } from '../../src/contract/index.ts';
import { isRoutable, stateOf } from '../../src/registry/health.ts';

const STATUSES: readonly HeartbeatStatus[] = ['healthy', 'busy', 'draining'];

const ALIVE: readonly AgentState[] = ['online', 'suspect', 'busy', 'draining', 'ejected', 'cordoned'];

/** From each state, the states it may move to. A cordoned agent stays so until an operator's word or its death. */
const LEGAL_MOVES: Readonly<Record<AgentState, readonly AgentState[]>> = {
  online: ['suspect', 'busy', 'draining', 'ejected', 'cordoned', 'offline'],
  suspect: ['online', 'busy', 'draining', 'ejected', 'cordoned', 'offline'],
  busy: ['online', 'suspect', 'draining', 'ejected', 'cordoned', 'offline'],
  draining: ['online', 'suspect', 'busy', 'cordoned', 'offline'],
  ejected: ['online', 'suspect', 'busy', 'draining', 'cordoned', 'offline'],
  cordoned: ['online', 'busy', 'draining', 'offline'],
  // A new start says healthy; a beat that brings an agent back may say anything of itself.
  offline: ALIVE,
};

function isLegalMove(from: AgentState, to: AgentState): boolean {
  return from === to || LEGAL_MOVES[from].includes(to);
}

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
