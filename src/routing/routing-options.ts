import type { Strategy } from '../contract/index.ts';

/** Numbers of the pipeline; each is a config value of the same name. Asked for anew by every route. */
export interface RoutingOptions {
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
  /** Weight by factor name; a factor that is not named has weight 0. */
  readonly weights: Readonly<Record<string, number>>;
  /** Mean answer time that counts as 1, the worst; longer ones count the same. */
  readonly latencyBudgetMs: number;
  /** Every candidate above this load: decision `queue`. */
  readonly queueLoad: number;
  readonly queueRetryAfterMs: number;
  /** More candidates than this: only the `leastLoaded` ones stay, then one at random. */
  readonly manyCandidates: number;
  readonly leastLoaded: number;
  /** The draw, unless the request names one. */
  readonly strategy: Strategy;
  /** Strategies that narrow before the draw, in this order. */
  readonly strategies: readonly string[];
  readonly canary?: CanaryOptions | undefined;
  /** How long one route waits for its vector before it goes on lexically. */
  readonly embedTimeoutMs: number;
}

/** `share` (0..1) of the traffic goes to agents whose tag `tag` is `value`, the rest to the others. */
export interface CanaryOptions {
  readonly tag: string;
  readonly value: string;
  readonly share: number;
}

export const DEFAULT_ROUTING: RoutingOptions = {
  topK: 5,
  recallK: 32,
  minRelevance: 0.3,
  ambiguityMargin: 0.05,
  relevanceGate: 0.05,
  weights: { relevance: 0.5, load: 0.3, latency: 0.2 },
  latencyBudgetMs: 5_000,
  queueLoad: 0.8,
  queueRetryAfterMs: 1_000,
  manyCandidates: 20,
  leastLoaded: 5,
  strategy: 'best',
  strategies: ['failure_domain', 'affinity'],
  embedTimeoutMs: 2_000,
};
