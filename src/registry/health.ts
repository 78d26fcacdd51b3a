/**
 * The one state machine of an agent's health. The state is never set, it follows from facts, so that no order of
 * events can leave a wrong one behind.
 *
 *   online <-> busy <-> draining      the agent's own word, by heartbeat
 *      |         |          |
 *      +---------+----------+--> offline   lease ran out, or expiresAt passed
 *      ^                          |
 *      +--------------------------+        a heartbeat of the newest lease, or a new registration
 *
 * `suspect`, `ejected` and `cordoned` are in the contract and in the table of moves; nothing reaches them yet.
 */
import type { AgentState, HeartbeatStatus } from '../contract/index.ts';

export interface HealthFacts {
  /** Marked offline: its lease ran out or its time was up. */
  readonly isOffline: boolean;
  /** The agent's own last word. */
  readonly status: HeartbeatStatus;
}

const STATE_OF_STATUS: Readonly<Record<HeartbeatStatus, AgentState>> = {
  healthy: 'online',
  busy: 'busy',
  draining: 'draining',
};

export function stateOf(facts: HealthFacts): AgentState {
  return facts.isOffline ? 'offline' : STATE_OF_STATUS[facts.status];
}

const ALIVE: readonly AgentState[] = ['online', 'suspect', 'busy', 'draining', 'ejected', 'cordoned'];

/** From each state, the states it may move to. A cordoned agent stays so until an operator's word or its death. */
export const LEGAL_MOVES: Readonly<Record<AgentState, readonly AgentState[]>> = {
  online: ['suspect', 'busy', 'draining', 'ejected', 'cordoned', 'offline'],
  suspect: ['online', 'busy', 'draining', 'ejected', 'cordoned', 'offline'],
  busy: ['online', 'suspect', 'draining', 'ejected', 'cordoned', 'offline'],
  draining: ['online', 'suspect', 'busy', 'cordoned', 'offline'],
  ejected: ['online', 'suspect', 'busy', 'draining', 'cordoned', 'offline'],
  cordoned: ['online', 'busy', 'draining', 'offline'],
  // A new start says healthy; a beat that brings an agent back may say anything of itself.
  offline: ALIVE,
};

export function isLegalMove(from: AgentState, to: AgentState): boolean {
  return from === to || LEGAL_MOVES[from].includes(to);
}

/** States in which an agent may be given work, free slots apart. */
export function isRoutable(state: AgentState): boolean {
  return state === 'online' || state === 'suspect';
}
