import { USUAL_MIN_RELEVANCE } from './gate.ts';
import type { BoundStrategy } from './strategies/strategy.ts';
import { bindSteps } from './strategies/strategy-catalog.ts';

/** How one of the eligible agents is picked: what a strategies document may say for all capabilities or for some. */
export interface SelectionPolicy {
  /** Weight by factor name; a factor that is not named has weight 0. */
  readonly weights: Readonly<Record<string, number>>;
  /** Mean answer time that counts as 1, the worst; longer ones count the same. */
  readonly latencyBudgetMs: number;
  /** Every candidate above this load: decision `queue`. */
  readonly queueLoad: number;
  /** More candidates than this: only the `leastLoaded` ones stay, then the less loaded of two of them. */
  readonly manyCandidates: number;
  readonly leastLoaded: number;
  /** Narrowed by in this order; the last one draws, unless the request names another draw. */
  readonly strategies: readonly BoundStrategy[];
}

/** Numbers of the pipeline; each is a config value of the same name. Asked for anew by every route. */
export interface RoutingOptions extends SelectionPolicy {
  /** Answers in a reply, the chosen agent counted, unless the request says how many. */
  readonly topK: number;
  /** Vectors and documents recalled for one intent. Rising costs search time, and helps only crowded registries. */
  readonly recallK: number;
  /** Best relevance under this: no_match. 0 = always answer something. */
  readonly minRelevance: number;
  /** Two capabilities this close in relevance: ambiguous. */
  readonly ambiguityMargin: number;
  /** Only capabilities within this of the best relevance go on to agents. 0 = the best alone. */
  readonly relevanceGate: number;
  /** Whether a request that holds several intents is answered with each of them. */
  readonly multiIntent: boolean;
  readonly queueRetryAfterMs: number;
  /** How long one route waits for its vector before it goes on lexically. */
  readonly embedTimeoutMs: number;
  /** Of the policy here and all overrides; the same content has the same version in every process. */
  readonly strategiesVersion: string;
  /** What the policy here is for: `default`, a name, `weather.query.*` or `weather.*`. */
  readonly policy: string;
  /** Options of single capabilities and domains, by name or pattern; see `optionsFor`. */
  readonly overrides?: ReadonlyMap<string, RoutingOptions> | undefined;
}

export const DEFAULT_ROUTING: RoutingOptions = {
  topK: 5,
  recallK: 32,
  minRelevance: USUAL_MIN_RELEVANCE,
  ambiguityMargin: 0.05,
  relevanceGate: 0.05,
  multiIntent: true,
  weights: { relevance: 0.5, load: 0.3, latency: 0.2 },
  latencyBudgetMs: 5_000,
  queueLoad: 0.8,
  queueRetryAfterMs: 1_000,
  manyCandidates: 20,
  leastLoaded: 5,
  strategies: bindSteps(['failure_domain', 'affinity', 'best']),
  embedTimeoutMs: 2_000,
  strategiesVersion: 'default',
  policy: 'default',
};

/** The options for a capability: the most specific of name, `domain.action.*`, `domain.*`, else the default. */
export function optionsFor(options: RoutingOptions, capability: string | undefined): RoutingOptions {
  const { overrides } = options;
  if (overrides === undefined || overrides.size === 0 || capability === undefined) return options;
  return (
    overrides.get(capability) ??
    overrides.get(`${capability.slice(0, capability.lastIndexOf('.'))}.*`) ??
    overrides.get(`${capability.slice(0, capability.indexOf('.'))}.*`) ??
    options
  );
}
