import type { RouteRequest } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import type { RegisteredAgent } from '../registry/index.ts';
import type { RoutingOptions } from './routing-options.ts';

/** One agent that could take the work, for one capability that could be meant. */
export interface Candidate {
  readonly capability: CapabilityName;
  /** 0..1, of the capability. */
  readonly relevance: number;
  readonly agent: RegisteredAgent;
  /** Share of its concurrency in use, 0..1: reported or given out by us; unknown: the candidates' median. */
  readonly load: number;
  readonly freeSlots: number;
  /** 0..1: what the score is multiplied by, less for an agent that is suspect or new. */
  readonly weight: number;
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

/** The free share by weight: what draws between agents go by. */
export function pullOf({ load, weight }: Pick<Candidate, 'load' | 'weight'>): number {
  return (1 - load) * weight;
}

/** null of an empty list. */
export function medianOf(values: number[]): number | null {
  if (values.length === 0) return null;
  values.sort((a, b) => a - b);
  const middle = values.length >> 1;
  const upper = values[middle] ?? 0;
  return values.length % 2 === 1 ? upper : (upper + (values[middle - 1] ?? upper)) / 2;
}
