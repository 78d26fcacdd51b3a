import type { RouteRequest } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import {
  freeSlots as freeSlotsOfAgent,
  isHealthy,
  isLapsed,
  isUnanswered,
  type RegisteredAgent,
  type RegistryView,
  scoredLoad,
} from '../registry/index.ts';
import { isWarm, weightOf } from './agent-weight.ts';
import { type Candidate, medianOf } from './candidate.ts';

/** Why an agent could not be chosen. The first three pass by themselves: such agents make a `queue`, not a no_match. */
export type DropReason =
  | 'no_free_slots'
  | 'busy'
  | 'ejected'
  | 'not_answering'
  | 'offline'
  | 'draining'
  | 'cordoned'
  | 'excluded'
  | 'tags_differ';

export interface DroppedAgent {
  readonly agentId: string;
  readonly capability: CapabilityName;
  readonly reason: DropReason;
}

export interface Eligibility {
  readonly candidates: readonly Candidate[];
  readonly dropped: readonly DroppedAgent[];
  /** Capabilities of which fewer than half of the agents are well, so that the ejected take work too. */
  readonly panicking: readonly CapabilityName[];
}

const PASSING: ReadonlySet<DropReason> = new Set<DropReason>(['no_free_slots', 'busy', 'ejected']);

/** Whether a wait could help: some agent was dropped for a reason that passes by itself. */
export function mayFreeUp(dropped: readonly DroppedAgent[]): boolean {
  return dropped.some((agent) => PASSING.has(agent.reason));
}

/**
 * Looks at live state, at the moment of the call: whoever is dead, full or unwanted is dropped, with the reason. Who
 * most likely is dead is asked only where nobody else is left.
 */
export function eligibleAgents(
  capabilities: readonly { readonly name: CapabilityName; readonly relevance: number }[],
  view: RegistryView,
  request: RouteRequest,
): Eligibility {
  const found: Found[] = [];
  const dropped: DroppedAgent[] = [];
  const panicking: CapabilityName[] = [];
  const excluded = request.exclude === undefined ? undefined : new Set(request.exclude);
  const wantsAny = excluded === undefined && request.tags === undefined;
  const nowMs = view.now;
  for (const { name, relevance } of capabilities) {
    const agents = view.agentsOf(request.namespace, name);
    const unwanted = wantsAny ? [] : agents.map((agent) => unwantedReason(agent, request, excluded));
    const standing = standingOf(agents, unwanted);
    if (standing.isPanicking) panicking.push(name);
    const fit: Found[] = [];
    for (const [i, agent] of agents.entries()) {
      const inFlight = view.inFlight(agent.record.agentId);
      const freeSlots = freeSlotsOfAgent(agent.record, agent.liveness, inFlight);
      const reason = unwanted[i] ?? stateReason(agent, standing) ?? (freeSlots > 0 ? null : 'no_free_slots');
      if (reason === null) fit.push({ capability: name, relevance, agent, inFlight, freeSlots, weight: 1 });
      else dropped.push({ agentId: agent.record.agentId, capability: name, reason });
    }
    const isRampOn = fit.some(({ agent }) => isWarm(agent, nowMs));
    for (const one of fit) found.push({ ...one, weight: weightOf(one.agent, nowMs, isRampOn) });
  }
  return { candidates: withLoads(found), dropped, panicking };
}

interface Found extends Omit<Candidate, 'load'> {
  readonly inFlight: number;
}

/** Unknown load counts as the median of the known, so that a newcomer is neither favoured nor shunned. */
function withLoads(found: readonly Found[]): Candidate[] {
  const loads = found.map(({ agent, inFlight }) => scoredLoad(agent.record, agent.liveness, inFlight));
  const median = loads.includes(null) ? (medianOf(loads.filter((load) => load !== null)) ?? 0) : 0;
  return found.map(({ capability, relevance, agent, freeSlots, weight }, i) => ({
    capability,
    relevance,
    agent,
    load: loads[i] ?? median,
    freeSlots,
    weight,
  }));
}

interface Standing {
  /** Fewer than half of those alive are well. */
  readonly isPanicking: boolean;
  /** Somebody whom the request could take has not failed a probe. */
  readonly isAnyoneUnfailed: boolean;
  /** And has a lease that runs. */
  readonly isAnyoneSure: boolean;
}

/** `unwanted`: why the request cannot take an agent, in the order of the agents; null, or nothing, where it can. */
function standingOf(agents: readonly RegisteredAgent[], unwanted: readonly (DropReason | null)[]): Standing {
  let alive = 0;
  let healthy = 0;
  let isAnyoneUnfailed = false;
  let isAnyoneSure = false;
  for (const [i, agent] of agents.entries()) {
    const { state } = agent.liveness;
    if (state === 'offline' || state === 'cordoned' || state === 'draining') continue;
    alive += 1;
    if (isHealthy(state) && agent.liveness.suspicion === null) healthy += 1;
    if (isUnanswered(agent.liveness) || (unwanted[i] ?? null) !== null) continue;
    isAnyoneUnfailed = true;
    isAnyoneSure ||= !isLapsed(agent.liveness);
  }
  return { isPanicking: healthy * 2 < alive, isAnyoneUnfailed, isAnyoneSure };
}

function unwantedReason(
  agent: RegisteredAgent,
  request: RouteRequest,
  excluded: ReadonlySet<string> | undefined,
): DropReason | null {
  if (excluded?.has(agent.record.agentId)) return 'excluded';
  return request.tags !== undefined && !hasTags(agent, request.tags) ? 'tags_differ' : null;
}

function stateReason(agent: RegisteredAgent, standing: Standing): DropReason | null {
  const { state } = agent.liveness;
  switch (state) {
    case 'online':
      return null;
    case 'suspect':
      return isSparedFor(agent, standing) ? 'not_answering' : null;
    case 'ejected':
      return standing.isPanicking && !isSparedFor(agent, standing) ? null : 'ejected';
    case 'busy':
    case 'draining':
    case 'cordoned':
    case 'offline':
      return state;
    default:
      return state satisfies never;
  }
}

/** Others go first: those that failed no probe, and, but for a panic, those whose lease runs. */
function isSparedFor({ liveness }: RegisteredAgent, standing: Standing): boolean {
  if (isUnanswered(liveness)) return standing.isAnyoneUnfailed;
  return isLapsed(liveness) && standing.isAnyoneSure && !standing.isPanicking;
}

function hasTags(agent: RegisteredAgent, wanted: Readonly<Record<string, string>>): boolean {
  for (const key of Object.keys(wanted)) {
    if (!Object.hasOwn(agent.record.tags, key) || agent.record.tags[key] !== wanted[key]) return false;
  }
  return true;
}
