/** What one beat changes in what is known of an agent. Pure; the schema has checked the numbers, this bounds them. */
import type { Heartbeat } from '../contract/index.ts';
import type { AgentFacts } from './agent-ledger.ts';
import type { AgentRecord, Drain, RegisteredAgent } from './agent-record.ts';
import { isExpired } from './lease.ts';
import { bounded, loadShare, meanLoadAfter, readLoad } from './load.ts';

/** Weight of the newest report: half of the mean is the last two beats. */
const LATENCY_ALPHA = 0.3;
const MAX_LATENCY_MS = 3_600_000;
/** A reported failure is remembered at least this long, whatever the agent says of itself. */
export const REPORT_HOLD_MS = 10_000;

export interface Moment {
  /** `clock.now()`. */
  readonly nowMs: number;
  /** Epoch milliseconds. */
  readonly wallAt: number;
}

function meanLatency(old: number | null, reported: number | undefined): number | null {
  const latest = reported === undefined ? undefined : bounded(reported, 0, MAX_LATENCY_MS);
  if (latest === undefined) return old;
  return old === null ? latest : old + LATENCY_ALPHA * (latest - old);
}

/** The agent's word about its own drain; an operator's stands whatever it says, and no beat moves a deadline. */
function drainAfter(drain: Drain | null, beat: Heartbeat, wallAt: number): Drain | null {
  if (beat.status === undefined || (drain !== null && drain.by !== null)) return drain;
  if (beat.status !== 'draining') return null;
  const until = beat.drainTimeoutMs === undefined ? null : wallAt + beat.drainTimeoutMs;
  if (drain === null) return { by: null, at: wallAt, until };
  return drain.until === null && until !== null ? { ...drain, until } : drain;
}

/** What a beat leaves out stays as last said: an agent that said `draining` drains until it says otherwise. */
export function beaten(agent: RegisteredAgent, beat: Heartbeat, { nowMs, wallAt }: Moment): AgentFacts {
  const { liveness } = agent;
  const drain = drainAfter(agent.record.drain, beat, wallAt);
  const drainDueAt = drainDueAfter(agent, drain, { nowMs, wallAt });
  const isOver =
    (liveness.expiryDueAt !== null && isExpired(liveness.expiryDueAt, nowMs)) ||
    (drainDueAt !== null && isExpired(drainDueAt, nowMs));
  const offlineAt = isOver ? agent.record.offlineAt : null;
  const reported = beat.load === undefined ? null : readLoad(beat.load);
  const isTrusted = isTrustedAgain(agent, nowMs);
  return {
    record: recordWith(agent.record, { drain, offlineAt }),
    liveness: {
      status: beat.status ?? liveness.status,
      load: reported ?? liveness.load,
      meanLoad: meanLoadAfter(liveness.meanLoad, loadShare(agent.record, reported), nowMs - liveness.heardAt),
      avgLatencyMs: meanLatency(liveness.avgLatencyMs, beat.avgLatencyMs),
      lastSeenAt: wallAt,
      heardAt: nowMs,
      missedBeats: 0,
      hasLapsed: false,
      suspicion: isTrusted ? null : liveness.suspicion,
      probe: isTrusted ? null : liveness.probe,
      drainDueAt,
      evictionDueAt: offlineAt === null ? null : liveness.evictionDueAt,
    },
  };
}

/** The deadline on the clock that never goes back; set when the drain begins and kept from then on. */
function drainDueAfter({ record, liveness }: RegisteredAgent, drain: Drain | null, moment: Moment): number | null {
  if (drain === record.drain) return liveness.drainDueAt;
  if (drain === null || drain.until === null) return null;
  return moment.nowMs + (drain.until - moment.wallAt);
}

/** A beat ends the suspicion of silence; that of its callers it ends only in time, and where no probe failed. */
function isTrustedAgain({ record, liveness }: RegisteredAgent, nowMs: number): boolean {
  const { suspicion, probe } = liveness;
  if (suspicion === null || suspicion.cause === 'silence') return true;
  if (nowMs - suspicion.at < REPORT_HOLD_MS) return false;
  return record.transport.healthEndpoint === undefined || probe?.isAnswered !== false;
}

/** The same object where nothing changes: a beat that says nothing new makes no revision. */
function recordWith(record: AgentRecord, changes: Pick<AgentRecord, 'drain' | 'offlineAt'>): AgentRecord {
  if (changes.drain === record.drain && changes.offlineAt === record.offlineAt) return record;
  return { ...record, ...changes };
}
