import type { RouteRequest } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import type { RegisteredAgent, RegistryView } from '../registry/index.ts';
import { type Candidate, freeSlotsOf, loadOf } from './candidate.ts';

/** Why an agent could not be chosen. The first three pass by themselves: such agents make a `queue`, not a no_match. */
export type DropReason =
  | 'no_free_slots'
  | 'busy'
  | 'ejected'
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
}

const PASSING: ReadonlySet<DropReason> = new Set<DropReason>(['no_free_slots', 'busy', 'ejected']);

/** Whether a wait could help: some agent was dropped for a reason that passes by itself. */
export function mayFreeUp(dropped: readonly DroppedAgent[]): boolean {
  return dropped.some((agent) => PASSING.has(agent.reason));
}

/** Looks at live state, at the moment of the call: whoever is dead, full or unwanted is dropped, with the reason. */
export function eligibleAgents(
  capabilities: readonly { readonly name: CapabilityName; readonly relevance: number }[],
  view: RegistryView,
  request: RouteRequest,
): Eligibility {
  const candidates: Candidate[] = [];
  const dropped: DroppedAgent[] = [];
  const excluded = request.exclude === undefined ? undefined : new Set(request.exclude);
  for (const { name, relevance } of capabilities) {
    for (const agent of view.agentsOf(request.namespace, name)) {
      const reason = dropReason(agent, request, excluded);
      if (reason === null) {
        candidates.push({
          capability: name,
          relevance,
          agent,
          load: loadOf(agent),
          freeSlots: freeSlotsOf(agent),
        });
      } else dropped.push({ agentId: agent.record.agentId, capability: name, reason });
    }
  }
  return { candidates, dropped };
}

function dropReason(
  agent: RegisteredAgent,
  request: RouteRequest,
  excluded: ReadonlySet<string> | undefined,
): DropReason | null {
  if (excluded?.has(agent.record.agentId)) return 'excluded';
  if (request.tags !== undefined && !hasTags(agent, request.tags)) return 'tags_differ';
  const { state } = agent.liveness;
  switch (state) {
    case 'online':
    case 'suspect':
      return freeSlotsOf(agent) > 0 ? null : 'no_free_slots';
    case 'busy':
    case 'ejected':
    case 'draining':
    case 'cordoned':
    case 'offline':
      return state;
    default:
      return state satisfies never;
  }
}

function hasTags(agent: RegisteredAgent, wanted: Readonly<Record<string, string>>): boolean {
  for (const key of Object.keys(wanted)) {
    if (!Object.hasOwn(agent.record.tags, key) || agent.record.tags[key] !== wanted[key]) return false;
  }
  return true;
}
