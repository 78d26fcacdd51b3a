/** What one beat changes in what is known of an agent. Pure; the schema has checked the numbers, this bounds them. */
import type { Heartbeat, Load } from '../contract/index.ts';
import type { AgentLiveness, AgentRecord } from './agent-record.ts';
import { stateOf } from './health.ts';

/** Weight of the newest report: half of the mean is the last two beats. */
const LATENCY_ALPHA = 0.3;
const MAX_COUNT = 1_000_000;
const MAX_LATENCY_MS = 3_600_000;

/** undefined where the number means nothing. */
function bounded(value: number, least: number, most: number): number | undefined {
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : undefined;
}

function readLoad(load: Load): Load | null {
  const active = bounded(load.active, 0, MAX_COUNT);
  const queued = bounded(load.queued, 0, MAX_COUNT);
  if (active === undefined || queued === undefined) return null;
  const max = load.max === undefined ? undefined : bounded(load.max, 1, MAX_COUNT);
  return max === undefined ? { active, queued } : { active, queued, max };
}

function meanLatency(old: number | null, reported: number | undefined): number | null {
  const latest = reported === undefined ? undefined : bounded(reported, 0, MAX_LATENCY_MS);
  if (latest === undefined) return old;
  return old === null ? latest : old + LATENCY_ALPHA * (latest - old);
}

/** What a beat leaves out stays as last said: an agent that said `draining` drains until it says otherwise. */
export function beaten(old: AgentLiveness, beat: Heartbeat, isOffline: boolean, nowAt: number): AgentLiveness {
  const status = beat.status ?? old.status;
  return {
    state: stateOf({ isOffline, status }),
    status,
    load: beat.load === undefined ? old.load : (readLoad(beat.load) ?? old.load),
    avgLatencyMs: meanLatency(old.avgLatencyMs, beat.avgLatencyMs),
    lastSeenAt: nowAt,
  };
}

/** Share of its concurrency in use, 0..1; null until it reported one. */
export function loadShare(record: AgentRecord, load: Load | null): number | null {
  if (load === null) return null;
  return Math.min(1, (load.active + load.queued) / (load.max ?? record.maxConcurrency));
}
