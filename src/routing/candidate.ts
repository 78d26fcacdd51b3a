import type { RouteRequest } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import { loadShare, type RegisteredAgent } from '../registry/index.ts';
import type { RoutingOptions } from './routing-options.ts';

/** One agent that could take the work, for one capability that could be meant. */
export interface Candidate {
  readonly capability: CapabilityName;
  /** 0..1, of the capability. */
  readonly relevance: number;
  readonly agent: RegisteredAgent;
  /** Share of its concurrency in use, 0..1. */
  readonly load: number;
  readonly freeSlots: number;
}

/** What every candidate of one request shares. */
export interface SelectionContext {
  readonly request: RouteRequest;
  readonly options: RoutingOptions;
  /** Uniform in 0..1; handed in so that draws can be tested. */
  readonly random: () => number;
  /** Median of the known latencies of the candidates, ms; null when none is known. */
  readonly medianLatencyMs: number | null;
}

/** Slots in use, and slots in all: what the agent last reported, else its declared concurrency. */
function slotsOf(agent: RegisteredAgent): { used: number; slots: number } {
  const reported = agent.liveness.load;
  const slots = Math.max(1, reported?.max ?? agent.record.maxConcurrency);
  return { used: reported === null ? 0 : reported.active + reported.queued, slots };
}

/** As the registry shows it; an agent that has reported none counts as idle. */
export function loadOf(agent: RegisteredAgent): number {
  return loadShare(agent.record, agent.liveness.load) ?? 0;
}

export function freeSlotsOf(agent: RegisteredAgent): number {
  const { used, slots } = slotsOf(agent);
  return Math.max(0, slots - used);
}
