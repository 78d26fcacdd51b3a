import type { DecisionReason, MatchedBy, SingleDecision } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import { mayReach, scopesFor } from '../rules/index.ts';
import { type Gated, type GateOptions, gate } from './gate.ts';
import type { DeniedText } from './intent-negation.ts';
import type { IntentReading } from './intent-reading.ts';
import { isSensitive, type Meaning } from './meaning.ts';
import type { RecalledCapability, RecallResult } from './recall.ts';
import type { RoutingOptions } from './routing-options.ts';
import type { Searchable } from './search-view.ts';

/** Capabilities whose agents may compete, or why there are none. */
export interface Aim {
  readonly capabilities: readonly { readonly name: CapabilityName; readonly relevance: number }[];
  readonly reason: DecisionReason | null;
  readonly matchedBy: MatchedBy | null;
  readonly ruleId: string | null;
  readonly ambiguous: boolean;
  /** What recall found, best first; empty when nothing was searched. */
  readonly recalled: readonly RecalledCapability[];
  /** By what the recalled ones were judged; null where nothing was. */
  readonly gate: GateOptions | null;
}

interface Recalled {
  readonly recall: RecallResult;
  readonly denied?: readonly DeniedText[];
}

export interface AimSources {
  readonly indexer: Searchable;
  readonly options: RoutingOptions;
}

/** Steps 5 and 6: what a meaning allows this caller to reach. */
export function aimOf(
  meaning: Meaning,
  request: { readonly namespace: string; readonly minRelevance?: number | undefined },
  scopes: ReadonlySet<string>,
  sources: AimSources,
): Aim {
  switch (meaning.kind) {
    case 'denied':
      return none('denied_by_rule', 'rule', meaning.ruleId);
    case 'named':
      return aimAtName(meaning, request.namespace, scopes, sources.indexer);
    case 'recalled':
      return aimAtRecalled(meaning, request, sources);
    default:
      return meaning satisfies never;
  }
}

function aimAtName(
  meaning: Extract<Meaning, { kind: 'named' }>,
  namespace: string,
  scopes: ReadonlySet<string>,
  indexer: Searchable,
): Aim {
  const { name, matchedBy, ruleId, requireScope } = meaning;
  if (!mayReach(scopes, scopesFor(name, isSensitive(indexer, namespace, name), requireScope))) {
    return none('scope_required', matchedBy, ruleId);
  }
  if (indexer.space(namespace)?.get(name) === undefined) return none('unknown_capability', matchedBy, ruleId);
  return {
    capabilities: [{ name, relevance: 1 }],
    reason: null,
    matchedBy,
    ruleId,
    ambiguous: false,
    recalled: [],
    gate: null,
  };
}

/** What one intent of a request may reach. */
export function aimAtRecalled(
  meaning: Recalled,
  request: { readonly namespace: string; readonly minRelevance?: number | undefined },
  { indexer, options }: AimSources,
): Aim {
  if (indexer.space(request.namespace) === undefined) return none('nothing_registered', null, null);
  const { capabilities: recalled, matchedBy } = meaning.recall;
  const [best] = recalled;
  const factor = best === undefined ? 1 : (indexer.thresholdOf?.(request.namespace, best.name) ?? 1);
  const judged = gateOptionsOf(request, options, factor);
  const gated: Gated = gate(recalled, judged);
  const isNegated =
    gated.reason === 'below_min_relevance' && meaning.denied?.some((one) => one.isOrder && one.capabilities.length > 0);
  return {
    capabilities: gated.passed,
    reason: isNegated === true ? 'negated' : gated.reason,
    matchedBy: gated.reason === null ? matchedBy : null,
    ruleId: null,
    ambiguous: gated.ambiguous,
    recalled,
    gate: judged,
  };
}

/**
 * What each part of a request may reach; empty where it is one intent, and where a part would be refused: then the
 * whole is decided. A part that comes near a sensitive capability stays, since the caller must be told of it.
 */
export function aimAtParts(
  { parts }: IntentReading,
  request: { readonly namespace: string; readonly minRelevance?: number | undefined },
  sources: AimSources,
): readonly { readonly text: string; readonly aim: Aim }[] {
  const aims = parts.map((part) => ({ text: part.text, aim: aimAtRecalled(part, request, sources) }));
  const isAnswered = aims.every(({ aim: { reason } }) => reason === null || reason === 'sensitive_requires_rule');
  return isAnswered ? aims : [];
}

/** Of a request whose parts are aimed one by one. */
export function aimAtSeveral({ recall }: IntentReading): Aim {
  const { capabilities: recalled, matchedBy } = recall;
  return { capabilities: [], reason: null, matchedBy, ruleId: null, ambiguous: false, recalled, gate: null };
}

/** `factor`: what the best asks for, of `minRelevance`; the caller's own word stands. */
export function gateOptionsOf(
  request: { readonly minRelevance?: number | undefined },
  options: RoutingOptions,
  factor = 1,
): GateOptions {
  return {
    minRelevance: request.minRelevance ?? Math.min(1, factor * options.minRelevance),
    isStrict: request.minRelevance !== undefined,
    ambiguityMargin: options.ambiguityMargin,
    relevanceGate: options.relevanceGate,
  };
}

function none(reason: DecisionReason, matchedBy: MatchedBy | null, ruleId: string | null): Aim {
  return { capabilities: [], reason, matchedBy, ruleId, ambiguous: false, recalled: [], gate: null };
}

export interface Verdict {
  readonly decision: SingleDecision;
  readonly reason: DecisionReason | null;
}

/** Step 10: route, wait, or say honestly that there is nobody. */
export function verdictOf(
  aim: Aim,
  candidates: readonly { readonly load: number }[],
  someMayFreeUp: boolean,
  queueLoad: number,
): Verdict {
  if (aim.reason !== null) return { decision: 'no_match', reason: aim.reason };
  if (candidates.length === 0) {
    return someMayFreeUp
      ? { decision: 'queue', reason: 'all_agents_full' }
      : { decision: 'no_match', reason: 'no_agent_available' };
  }
  if (candidates.every((candidate) => candidate.load > queueLoad)) {
    return { decision: 'queue', reason: 'all_agents_overloaded' };
  }
  return { decision: 'route', reason: null };
}
