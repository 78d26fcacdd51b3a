import type { Explain, RoutedIntent, RouteReply } from '../contract/index.ts';
import { mayReach, type RuleSet, scopesFor } from '../rules/index.ts';
import { gateOptionsOf } from './decision.ts';
import { explain } from './explain.ts';
import { FACTORS } from './factors/factor-catalog.ts';
import type { RecalledCapability } from './recall.ts';
import type { ScoredCandidate } from './rerank.ts';
import { rounded, roundedMs } from './rounding.ts';
import type { DecidedPart, DecidedRoute } from './router.ts';

type Alternative = RouteReply['alternatives'][number];

/** The wire form of a decision. Small by default: the whole story comes with `explain` only. */
export function buildReply(decided: DecidedRoute, totalMs: number, rules: RuleSet): RouteReply {
  const { aim, selection, verdict, context } = decided;
  const chosen = selection?.chosen ?? null;
  const best = aim.capabilities[0];
  const timings: Record<string, number> = { total: roundedMs(totalMs) };
  for (const [stage, ms] of Object.entries(decided.stages)) timings[stage] = roundedMs(ms);
  const reply: RouteReply = {
    requestId: decided.requestId,
    decision: verdict.decision,
    reason: verdict.reason,
    capability: chosen?.capability ?? best?.name ?? null,
    agent: chosen === null ? null : routedAgent(chosen),
    relevance: relevanceOf(decided, chosen),
    score: chosen === null ? null : rounded(chosen.score),
    factors:
      chosen === null
        ? null
        : Object.fromEntries(FACTORS.map((factor) => [factor.name, rounded(factor.value(chosen, context))])),
    matchedBy: aim.matchedBy,
    ambiguous: aim.ambiguous,
    alternatives: alternatives(decided, chosen),
    degraded: decided.degradedReason !== null,
    indexVersion: decided.indexVersion,
    strategiesVersion: context.options.strategiesVersion,
    registryEpoch: decided.registryEpoch,
    cache: decided.cache,
    timings,
  };
  if (decided.parts.length > 0) reply.intents = decided.parts.map(routedIntent);
  if (aim.ruleId !== null) reply.ruleId = aim.ruleId;
  if (decided.degradedReason !== null) reply.degradedReason = decided.degradedReason;
  if ([decided, ...decided.parts].some(isPanicking)) reply.panic = true;
  if (decided.isPreserving) reply.registry = { preserving: true };
  if (decided.staleMs !== null) {
    reply.stale = true;
    reply.staleMs = decided.staleMs;
  }
  if (verdict.decision === 'queue') reply.retryAfterMs = Math.round(context.options.queueRetryAfterMs);
  if (decided.request.explain) reply.explain = explainOf(decided, rules);
  return reply;
}

function routedAgent({ agent }: ScoredCandidate): NonNullable<RouteReply['agent']> {
  const { agentId, agentName, version, transport } = agent.record;
  return { agentId, agentName, version, transport, state: agent.liveness.state };
}

/** Of what was chosen, or of all that was looked at where nobody was. */
function isPanicking({ eligibility, selection }: Pick<DecidedRoute, 'eligibility' | 'selection'>): boolean {
  const { panicking } = eligibility;
  return panicking.length > 0 && (selection === null || panicking.includes(selection.chosen.capability));
}

function routedIntent({ text, aim, selection, verdict, context }: DecidedPart): RoutedIntent {
  const chosen = selection?.chosen ?? null;
  const best = aim.capabilities[0];
  const relevance = chosen?.relevance ?? best?.relevance;
  const intent: RoutedIntent = {
    text,
    decision: verdict.decision,
    reason: verdict.reason,
    capability: chosen?.capability ?? best?.name ?? null,
    agent: chosen === null ? null : routedAgent(chosen),
    relevance: relevance === undefined ? null : rounded(relevance),
    score: chosen === null ? null : rounded(chosen.score),
    ambiguous: aim.ambiguous,
  };
  if (verdict.decision === 'queue') intent.retryAfterMs = Math.round(context.options.queueRetryAfterMs);
  return intent;
}

function relevanceOf(decided: DecidedRoute, chosen: ScoredCandidate | null): number | null {
  if (decided.parts.length > 0) {
    const relevances = decided.parts.flatMap(({ aim }) => aim.capabilities[0]?.relevance ?? []);
    return relevances.length === 0 ? null : rounded(Math.min(...relevances));
  }
  const relevance = chosen?.relevance ?? decided.aim.capabilities[0]?.relevance ?? bestShown(decided)?.relevance;
  return relevance === undefined ? null : rounded(relevance);
}

/** The best recalled capability that may be named to the caller; a sensitive one is not given away. */
function bestShown(decided: DecidedRoute): { relevance: number } | undefined {
  return decided.aim.recalled.find((one) => !one.sensitive);
}

/**
 * Other candidates for a routed or waiting request; where two capabilities could be meant, the other one is among
 * them even without an agent. For a no_match the nearest names, without agents.
 */
function alternatives(decided: DecidedRoute, chosen: ScoredCandidate | null): Alternative[] {
  const { aim, ranked, request, verdict } = decided;
  const wanted = request.topK ?? decided.context.options.topK;
  const limit = chosen === null ? wanted : wanted - 1;
  const found: Alternative[] = [];
  if (verdict.decision !== 'no_match' || aim.reason === null) {
    for (const candidate of ranked) {
      if (found.length >= limit || candidate === chosen) continue;
      found.push({
        capability: candidate.capability,
        agentId: candidate.agent.record.agentId,
        relevance: rounded(candidate.relevance),
        score: rounded(candidate.score),
      });
    }
  }
  const named = new Set<string>(found.map((one) => one.capability));
  if (chosen !== null) named.add(chosen.capability);
  const missing = aim.reason !== null ? aim.recalled : aim.ambiguous ? aim.recalled.slice(0, 2) : [];
  for (const one of missing) {
    if (one.sensitive || named.has(one.name)) continue;
    const alternative = { capability: one.name, agentId: null, relevance: rounded(one.relevance), score: null };
    if (found.length < limit) found.push(alternative);
    else if (aim.ambiguous && limit > 0) found[limit - 1] = alternative;
  }
  return found;
}

/** A near miss gives a sensitive capability away to those only who may reach it. */
function shownTo(scopes: ReadonlySet<string>, one: RecalledCapability): RecalledCapability {
  if (mayReach(scopes, scopesFor(one.name, true, null))) return one;
  return { ...one, name: '(sensitive)' as RecalledCapability['name'], nearestText: null };
}

function explainOf(decided: DecidedRoute, rules: RuleSet): NonNullable<RouteReply['explain']> {
  const { request, context, canonical, scopes } = decided;
  return explain({
    canonicalText: canonical,
    reading: readingOf(decided),
    rules: canonical === null ? [] : rules.explain(canonical),
    recalled: decided.aim.recalled.map((one) => (one.sensitive ? shownTo(scopes, one) : one)),
    gate: decided.aim.gate ?? gateOptionsOf(request, context.options),
    context,
    choices: decided.parts.length > 0 ? decided.parts : [decided],
  });
}

/** Undefined where the text was taken as it stands. */
function readingOf({ meaning, parts, scopes }: DecidedRoute): Explain['reading'] {
  if (meaning.kind !== 'recalled' || meaning.denied.length + parts.length === 0) return undefined;
  return {
    asked: meaning.asked,
    denied: meaning.denied.map(({ text, capabilities }) => ({
      text,
      capabilities: capabilities.map((one) => (one.sensitive ? shownTo(scopes, one) : one).name),
    })),
    parts: parts.flatMap(({ text, aim }) => {
      const [best] = aim.recalled;
      if (best === undefined) return [];
      const { name, relevance } = best.sensitive ? shownTo(scopes, best) : best;
      return [{ text, capability: name, relevance: rounded(relevance) }];
    }),
  };
}
