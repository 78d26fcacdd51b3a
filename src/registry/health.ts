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
 * `suspect`, `ejected` and `cordoned` are in the contract; nothing reaches them yet.
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

/** States in which an agent may be given work, free slots apart. */
export function isRoutable(state: AgentState): boolean {
  return state === 'online' || state === 'suspect';
}
