import { parseCapabilityName } from '../capability/index.ts';
import {
  type CacheOutcome,
  type Decision,
  type DecisionReason,
  MAX_BATCH_EXPLAINS,
  MAX_INTENT_LENGTH,
  type RouteReply,
  type RouteRequest,
} from '../contract/index.ts';
import {
  AgentReachError,
  type Clock,
  canonicalText,
  hasWords,
  isAgentReachError,
  publish,
  TurnPace,
} from '../core/index.ts';
import type { Embedder, ModelCalibration } from '../embedding/index.ts';
import type { RegistryView } from '../registry/index.ts';
import { type AuditEntry, mayReach, type RuleSet, scopesFor } from '../rules/index.ts';
import { type AgentChoice, type ChoiceSources, chooseAgent } from './agent-choice.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import { aimAtParts, aimAtSeveral, aimOf } from './decision.ts';
import type { IndexedCapability } from './indexed-capability.ts';
import { type Meaning, meaningOf } from './meaning.ts';
import { degradedReasonOf, Recaller } from './recall.ts';
import { buildReply } from './reply.ts';
import { RouteCache } from './route-cache.ts';
import type { RoutingOptions } from './routing-options.ts';
import type { Caller, RoutingService } from './routing-service.ts';
import { auditEntriesOf } from './sensitive-audit.ts';

export interface RouterOptions {
  readonly clock: Clock;
  /** Uniform in 0..1. */
  readonly random: () => number;
  readonly embedder: Embedder;
  readonly calibration: ModelCalibration;
  readonly indexer: CapabilityIndexer;
  readonly view: RegistryView;
  readonly rules: { readonly version: number; readonly current: RuleSet };
  /** Where decisions about sensitive capabilities are recorded. */
  readonly audit?: { append(entry: AuditEntry): Promise<void> };
  /** Id of the index version that answers now. */
  readonly indexVersion: () => string;
  /** How long nothing was heard of other instances; null while all is. */
  readonly staleMs?: () => number | null;
  /** Read anew by every route, so that a reload takes effect at once. */
  readonly options: () => RoutingOptions;
  readonly cache: { readonly ttlMs: number; readonly maxEntries: number };
}

interface Asked {
  readonly request: RouteRequest;
  readonly caller: Caller;
  readonly canonical: string | null;
  readonly options: RoutingOptions;
}

/** Requests of a batch between which others get their turn; few where they are long. */
const BATCH_TURN = { steps: 16, ms: 4 };
/** Ten times what a text costs the model: the last of a batch waits for all before it. */
const MS_A_BATCHED_INTENT = 40;

/** One of several intents of a request. */
export interface DecidedPart extends AgentChoice {
  readonly text: string;
}

/** Everything that one decision was made of; the reply is a view of it. */
export interface DecidedRoute extends Omit<AgentChoice, 'verdict'> {
  readonly verdict: { readonly decision: Decision; readonly reason: DecisionReason | null };
  /** Filled with `multi_intent` only: then nothing is aimed at but by them. */
  readonly parts: readonly DecidedPart[];
  readonly request: RouteRequest;
  readonly requestId: string;
  readonly scopes: ReadonlySet<string>;
  readonly canonical: string | null;
  readonly meaning: Meaning;
  readonly cache: CacheOutcome;
  readonly degradedReason: string | null;
  readonly indexVersion: string;
  readonly registryEpoch: number;
  /** The registry evicts nobody for now. */
  readonly isPreserving: boolean;
  /** How old what was decided on may be; null where it is of now. */
  readonly staleMs: number | null;
  readonly stages: Readonly<Record<string, number>>;
}

/**
 * The pipeline: an intent becomes a meaning (cached for a minute), and a meaning becomes an agent (never cached:
 * steps 7 to 10 run on live state, synchronously, so that one answer is of one moment).
 */
export class Router implements RoutingService {
  readonly #options: RouterOptions;
  readonly #cache: RouteCache<Meaning>;
  readonly #recaller: Recaller;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#cache = new RouteCache({ clock: options.clock, ...options.cache });
    this.#recaller = new Recaller(options);
  }

  route(request: RouteRequest, caller: Caller): Promise<RouteReply> {
    return this.#route(request, caller, this.#options.options());
  }

  /** `options` are taken once: one answer, and one batch, is of one version whatever is reloaded meanwhile. */
  async #route(request: RouteRequest, caller: Caller, options: RoutingOptions): Promise<RouteReply> {
    const start = this.#options.clock.now();
    const canonical = request.intent === undefined ? null : canonicalIntent(request.intent);
    const found =
      canonical === null
        ? { value: this.#exactly(request, caller.scopes), outcome: 'bypass' as const }
        : await this.#meaning(request, canonical, options);
    const meant = this.#options.clock.now();
    const decided = this.#decide({ request, caller, canonical, options }, found.value, found.outcome, meant - start);
    // Before anything is answered: a sensitive decision that cannot be recorded is not told.
    await this.#record(decided, caller);
    const total = this.#options.clock.now() - start;
    this.#publish(decided, total);
    return buildReply(decided, total, this.#options.rules.current);
  }

  /** The embedder gathers what waits into its batches; other requests get their turn every few milliseconds. */
  async routeBatch(requests: readonly RouteRequest[], caller: Caller): Promise<RouteReply[]> {
    await this.#checkBatch(requests, caller);
    const current = this.#options.options();
    const embedTimeoutMs = current.embedTimeoutMs + requests.length * MS_A_BATCHED_INTENT;
    const options = { ...current, embedTimeoutMs };
    const replies: Promise<RouteReply>[] = [];
    const pace = new TurnPace(this.#options.clock, BATCH_TURN);
    for (const [i, request] of requests.entries()) {
      const one = { ...caller, requestId: `${caller.requestId}.${i}` };
      const reply = this.#route(request, one, options);
      // A failure between two turns is told by the last line, not as an unhandled rejection.
      reply.catch(() => {});
      replies.push(reply);
      await pace.step();
    }
    return Promise.all(replies);
  }

  /** One bad request fails the batch before any work. */
  async #checkBatch(requests: readonly RouteRequest[], caller: Caller): Promise<void> {
    if (requests.filter((request) => request.explain).length > MAX_BATCH_EXPLAINS) {
      throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
        detail: `At most ${MAX_BATCH_EXPLAINS} requests of a batch may ask for explain.`,
        issues: [{ path: 'requests', message: `more than ${MAX_BATCH_EXPLAINS} ask for explain` }],
      });
    }
    const pace = new TurnPace(this.#options.clock, BATCH_TURN);
    for (const [i, request] of requests.entries()) {
      try {
        if (request.intent === undefined) this.#exactly(request, caller.scopes);
        else canonicalIntent(request.intent);
      } catch (error) {
        throw atPlace(error, `requests[${i}]`);
      }
      await pace.step();
    }
  }

  async #record(decided: DecidedRoute, caller: Caller): Promise<void> {
    const { audit, rules, indexer } = this.#options;
    if (audit === undefined) return;
    const about = { keyId: caller.keyId ?? 'local', rulesVersion: rules.version, indexer };
    for (const entry of auditEntriesOf(decided, about)) await audit.append(entry);
  }

  async #meaning(
    { namespace, probe }: RouteRequest,
    canonical: string,
    options: RoutingOptions,
  ): Promise<{ value: Meaning; outcome: CacheOutcome }> {
    const { indexer, rules } = this.#options;
    const stamp = `${indexer.revision}.${rules.version}.${this.#options.indexVersion()}`;
    const key = `${namespace}\n${canonical}`;
    const cached = this.#cache.get(stamp, key);
    if (cached !== undefined) return { value: cached, outcome: 'hit' };
    return this.#cache.load(stamp, key, () =>
      meaningOf(namespace, canonical, {
        decide: (text) => (probe === true ? rules.current.tryOut(text) : rules.current.decide(text)),
        indexer,
        recall: (space, text) => this.#recaller.recall(space, text, options),
        options,
      }),
    );
  }

  /** Names that were probably meant are suggested from what this caller may reach. */
  #exactly(request: RouteRequest, scopes: ReadonlySet<string>): Meaning {
    const name = parseCapabilityName(request.capability ?? '', {
      known: reachableNames(this.#options.indexer.space(request.namespace)?.entries() ?? [], scopes),
      path: 'capability',
    });
    return { kind: 'named', name, matchedBy: 'exact', ruleId: null, requireScope: null };
  }

  #decide(
    { request, caller, canonical, options: current }: Asked,
    meaning: Meaning,
    cache: CacheOutcome,
    meantMs: number,
  ): DecidedRoute {
    const { indexer, view, random, embedder, clock } = this.#options;
    const start = clock.now();
    const { parts, choice } = this.#choose(meaning, caller.scopes, { request, view, options: current, random });
    const recall = meaning.kind === 'recalled' ? meaning.recall : null;
    const stages = cache === 'miss' || cache === 'bypass' ? recall?.stages : undefined;
    const { aim, eligibility, ranked, context, selection } = choice;
    // Field by field: behind a spread V8 defines every further field the slow way, a third of a hit's time.
    return {
      aim,
      eligibility,
      ranked,
      context,
      selection,
      verdict: parts.length > 0 ? { decision: 'multi_intent', reason: null } : choice.verdict,
      parts,
      request,
      requestId: caller.requestId,
      scopes: caller.scopes,
      canonical,
      meaning,
      cache,
      degradedReason: recall?.degradedReason ?? degradedReasonOf(embedder) ?? indexer.waitingReason,
      indexVersion: recall?.indexVersion ?? this.#options.indexVersion(),
      registryEpoch: view.epoch,
      isPreserving: view.preserving,
      staleMs: this.#options.staleMs?.() ?? null,
      stages: { ...stages, meaning: meantMs, select: clock.now() - start },
    };
  }

  /** An agent for the one intent, or one for each of several. */
  #choose(
    meaning: Meaning,
    scopes: ReadonlySet<string>,
    sources: ChoiceSources,
  ): { readonly choice: AgentChoice; readonly parts: readonly DecidedPart[] } {
    const aimSources = { indexer: this.#options.indexer, options: sources.options };
    const aims = meaning.kind === 'recalled' ? aimAtParts(meaning, sources.request, aimSources) : [];
    if (meaning.kind === 'recalled' && aims.length > 0) {
      const parts = aims.map(({ text, aim }) => ({ text, ...chooseAgent(aim, sources) }));
      return { choice: chooseAgent(aimAtSeveral(meaning), sources), parts };
    }
    return { choice: chooseAgent(aimOf(meaning, sources.request, scopes, aimSources), sources), parts: [] };
  }

  #publish(decided: DecidedRoute, totalMs: number): void {
    publish('route.decided', {
      decision: decided.verdict.decision,
      reason: decided.verdict.reason,
      matchedBy: decided.aim.matchedBy,
      relevance: decided.aim.recalled[0]?.relevance ?? null,
      cache: decided.cache,
      degraded: decided.degradedReason !== null,
      isProbe: decided.request.probe === true,
      stages: decided.stages,
      totalMs,
    });
  }
}

/** Looked at only where a name is malformed, so it must cost nothing until then. */
function* reachableNames(entries: Iterable<IndexedCapability>, scopes: ReadonlySet<string>): Generator<string> {
  for (const { name, sensitive } of entries) {
    if (!sensitive || mayReach(scopes, scopesFor(name, true, null))) yield name;
  }
}

/** Of what an intent may have: "…" becomes three characters and "㎏" two, while "ﷺ" becomes eighteen. */
const MAX_CANONICAL_LENGTH = 2 * MAX_INTENT_LENGTH;

function canonicalIntent(intent: string): string {
  const canonical = canonicalText(intent);
  if (canonical.length > MAX_CANONICAL_LENGTH) {
    throw new AgentReachError('AR_ERR_INVALID_INTENT', {
      detail: `The intent has ${canonical.length} characters in canonical form (NFKC); at most ${MAX_CANONICAL_LENGTH} are read.`,
      issues: [{ path: 'intent', message: 'too long in canonical form' }],
    });
  }
  if (hasWords(canonical)) return canonical;
  throw new AgentReachError('AR_ERR_INVALID_INTENT', {
    detail: 'The intent holds no letter and no digit of any script.',
    issues: [{ path: 'intent', message: 'holds no words' }],
  });
}

function atPlace(error: unknown, place: string): unknown {
  if (!isAgentReachError(error)) return error;
  return new AgentReachError(error.code, {
    detail: error.message,
    issues: error.issues.map((issue) => ({ path: `${place}.${issue.path}`, message: issue.message })),
    suggestions: error.suggestions,
  });
}
