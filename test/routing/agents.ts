/** Agents and a registry view for the tests of routing: plain data behind the real interfaces. */
import type { AgentState, Load } from '../../src/contract/index.ts';
import type { AgentId, CapabilityName, LeaseId } from '../../src/core/index.ts';
import type { RegisteredAgent, RegistryView } from '../../src/registry/index.ts';

export interface AgentSketch {
  readonly id: string;
  readonly capabilities: readonly string[];
  readonly load?: Load | null;
  readonly meanLoad?: number;
  /** Why it is suspect. */
  readonly doubt?: 'silent' | 'unanswered' | 'lapsed';
  readonly warmUp?: { readonly from: number; readonly until: number };
  readonly latencyMs?: number | null;
  readonly state?: AgentState;
  readonly namespace?: string;
  readonly version?: string;
  readonly zone?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly maxConcurrency?: number;
}

export function agent(sketch: AgentSketch): RegisteredAgent {
  return {
    record: {
      agentId: sketch.id as AgentId,
      agentName: sketch.id,
      version: sketch.version ?? '1.0.0',
      namespace: sketch.namespace ?? 'default',
      capabilities: sketch.capabilities.map((name) => ({
        name: name as CapabilityName,
        description: null,
        examples: [],
        aliases: [],
        sensitive: false,
      })),
      transport: { type: 'http', endpoint: `http://127.0.0.1/${sketch.id}` },
      heartbeatIntervalMs: 30_000,
      timeoutMs: 5_000,
      maxConcurrency: sketch.maxConcurrency ?? 8,
      idempotent: false,
      zone: sketch.zone ?? null,
      tags: sketch.tags ?? {},
      metadata: {},
      leaseId: `lease_${sketch.id}` as LeaseId,
      incarnation: 1,
      revision: 1,
      registeredAt: 0,
      expiresAt: null,
      offlineAt: null,
      cordoned: null,
      drain: null,
    },
    liveness: {
      state: sketch.state ?? 'online',
      reason: 'registered',
      status: 'healthy',
      load: sketch.load ?? null,
      meanLoad: sketch.meanLoad ?? null,
      avgLatencyMs: sketch.latencyMs ?? null,
      lastSeenAt: 0,
      heardAt: 0,
      missedBeats: 0,
      hasLapsed: false,
      suspicion: sketch.doubt === undefined ? null : { cause: 'silence', at: 0, isLapsed: sketch.doubt === 'lapsed' },
      probe: sketch.doubt === 'unanswered' ? { at: 0, isAnswered: false, detail: 'connection refused' } : null,
      ejectedDueAt: null,
      warmUp: sketch.warmUp ?? null,
      expiryDueAt: null,
      drainDueAt: null,
      evictionDueAt: null,
    },
  };
}

/** A view over a list that a test may change between routes, at moment 0. */
export function viewOf(agents: RegisteredAgent[], inFlight: Readonly<Record<string, number>> = {}): RegistryView {
  const offering = (namespace: string, name: string): RegisteredAgent[] =>
    agents.filter(
      ({ record }) => record.namespace === namespace && record.capabilities.some((one) => one.name === name),
    );
  return {
    epoch: 1,
    now: 0,
    preserving: false,
    inFlight: (agentId) => inFlight[agentId] ?? 0,
    agent: (agentId) => agents.find(({ record }) => record.agentId === agentId),
    agentsOf: offering,
    hasCapability: (namespace, name) => offering(namespace, name).length > 0,
  };
}

/** A repeatable source of numbers in 0..1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
