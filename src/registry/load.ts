/** The load of an agent: reported numbers bounded, shares, and the mean that keeps one spike from counting in full. */
import type { Load } from '../contract/index.ts';
import type { AgentLiveness, AgentRecord } from './agent-record.ts';

const MAX_COUNT = 1_000_000;
/** A report weighs by how long it stood: after this time the mean is 63 % of the newest. */
const MEAN_MS = 30_000;

/** undefined where the number means nothing. */
export function bounded(value: number, least: number, most: number): number | undefined {
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : undefined;
}

/** null where the numbers mean nothing. */
export function readLoad(load: Load): Load | null {
  const active = bounded(load.active, 0, MAX_COUNT);
  const queued = bounded(load.queued, 0, MAX_COUNT);
  if (active === undefined || queued === undefined) return null;
  const max = load.max === undefined ? undefined : bounded(load.max, 1, MAX_COUNT);
  return max === undefined ? { active, queued } : { active, queued, max };
}

/** Share of its concurrency in use, 0..1; null until it reported one. */
export function loadShare(record: AgentRecord, load: Load | null): number | null {
  if (load === null) return null;
  return Math.min(1, (load.active + load.queued) / (load.max ?? record.maxConcurrency));
}

/** `sinceMs`: time since the report before. */
export function meanLoadAfter(mean: number | null, share: number | null, sinceMs: number): number | null {
  if (share === null || mean === null) return share ?? mean;
  return mean + (1 - Math.exp(-Math.max(0, sinceMs) / MEAN_MS)) * (share - mean);
}

/**
 * What the score counts, 0..1; null while nothing is known. A rise counts as far as it lasts, a fall at once, so that
 * one spike of half a minute exiles nobody; tasks that we ourselves gave out and that still run count in full.
 */
export function scoredLoad(record: AgentRecord, liveness: AgentLiveness, inFlight: number): number | null {
  const share = loadShare(record, liveness.load);
  const reported = share === null ? null : Math.min(share, liveness.meanLoad ?? share);
  if (inFlight <= 0) return reported;
  const own = Math.min(1, inFlight / slotsOf(record, liveness.load));
  return Math.max(reported ?? 0, own);
}

/** Never under 0: the higher of what it reported and what we gave out counts as taken. */
export function freeSlots(record: AgentRecord, liveness: AgentLiveness, inFlight: number): number {
  const { load } = liveness;
  const used = Math.max(load === null ? 0 : load.active + load.queued, inFlight);
  return Math.max(0, slotsOf(record, load) - used);
}

function slotsOf(record: AgentRecord, load: Load | null): number {
  return Math.max(1, load?.max ?? record.maxConcurrency);
}
