/**
 * The one state machine of an agent's health. The state is never set, it follows from facts, so that no order of
 * events can leave a wrong one behind. Where several hold, the first of this list is the state:
 *
 *   cordoned   an operator fenced it off           until an operator lifts it
 *   offline    lease ran out, expiresAt passed,    until it beats or registers again; evicted after a day
 *              or its drain is over
 *   ejected    its callers report failures         30 s times the number of times, at most 300 s
 *   draining   its own word or an operator's       until the deadline, then offline
 *   busy       its own word                        until it says otherwise
 *   suspect    a beat missed, a failure reported   until it beats, or a probe answers
 *   online
 *
 * docs/health.md draws it.
 */
import type { AgentState, HeartbeatStatus } from '../contract/index.ts';
import type { AgentLiveness, AgentRecord } from './agent-record.ts';

export interface HealthFacts {
  readonly isCordoned: boolean;
  /** Marked offline: its lease ran out, its time was up, or its drain is over. */
  readonly isOffline: boolean;
  readonly isEjected: boolean;
  readonly isDraining: boolean;
  readonly isSuspect: boolean;
  /** The agent's own last word. */
  readonly status: HeartbeatStatus;
}

export function factsOf(record: AgentRecord, liveness: Omit<AgentLiveness, 'state' | 'reason'>): HealthFacts {
  return {
    isCordoned: record.cordoned !== null,
    isOffline: record.offlineAt !== null,
    isEjected: liveness.ejectedDueAt !== null,
    isDraining: record.drain !== null,
    isSuspect: liveness.suspicion !== null,
    status: liveness.status,
  };
}

export function stateOf(facts: HealthFacts): AgentState {
  if (facts.isCordoned) return 'cordoned';
  if (facts.isOffline) return 'offline';
  if (facts.isEjected) return 'ejected';
  if (facts.isDraining || facts.status === 'draining') return 'draining';
  if (facts.status === 'busy') return 'busy';
  return facts.isSuspect ? 'suspect' : 'online';
}

/** States in which an agent may be given work, free slots apart. */
export function isRoutable(state: AgentState): boolean {
  return state === 'online' || state === 'suspect';
}

/** Alive as far as anybody knows, whether or not it takes work now. */
export function isHealthy(state: AgentState): boolean {
  return state === 'online' || state === 'busy';
}

/** Doubted, and its health endpoint did not answer: most likely dead. */
export function isUnanswered({ suspicion, probe }: Pick<AgentLiveness, 'suspicion' | 'probe'>): boolean {
  return suspicion !== null && probe?.isAnswered === false;
}

/** Its lease ran out; it is kept only because too many ran out together. */
export function isLapsed({ suspicion }: Pick<AgentLiveness, 'suspicion'>): boolean {
  return suspicion?.isLapsed === true;
}
