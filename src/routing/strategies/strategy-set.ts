/** A strategies document over the config: the options of every capability, ready to be looked up, and their version. */
import type { EffectivePolicy, StrategiesDocument, StrategyPolicy } from '../../contract/index.ts';
import { contentHash } from '../../core/index.ts';
import type { RoutingOptions, SelectionPolicy } from '../routing-options.ts';
import { bindSteps } from './strategy-catalog.ts';

const VERSION_LENGTH = 12;

/**
 * For a sound document. Entries inherit field by field: a name from its `domain.action.*`, that from its `domain.*`,
 * that from the default, that from `base`. The version is of the outcome: equal outcomes are one version everywhere.
 */
export function compileStrategies(base: RoutingOptions, document: StrategiesDocument): RoutingOptions {
  const fallback: RoutingOptions = {
    ...base,
    ...policyFields(document.default),
    policy: 'default',
    overrides: undefined,
  };
  const overrides = new Map<string, RoutingOptions>();
  const byBreadth = Object.entries(document.capabilities ?? {}).sort(
    ([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1),
  );
  for (const [pattern, policy] of byBreadth) {
    const wider = widerPatterns(pattern).find((one) => overrides.has(one));
    const inherited = (wider === undefined ? undefined : overrides.get(wider)) ?? fallback;
    overrides.set(pattern, { ...inherited, ...policyFields(policy), policy: pattern });
  }
  const strategiesVersion = versionOf(fallback, overrides);
  for (const [pattern, options] of overrides) overrides.set(pattern, { ...options, strategiesVersion });
  return { ...fallback, strategiesVersion, overrides };
}

/** As it is told and as it is hashed: plain data, fields in one order. */
export function effectivePolicy(options: SelectionPolicy): EffectivePolicy {
  const { strategies, weights, latencyBudgetMs, queueLoad, manyCandidates, leastLoaded } = options;
  return {
    strategies: strategies.map(({ name, parameters }) => ({ name, ...parameters })),
    weights: Object.fromEntries(Object.entries(weights).sort(([a], [b]) => (a < b ? -1 : 1))),
    latencyBudgetMs,
    queueLoad,
    manyCandidates,
    leastLoaded,
  };
}

export function effectivePolicies(options: RoutingOptions): {
  default: EffectivePolicy;
  capabilities: Record<string, EffectivePolicy>;
} {
  const overrides = [...(options.overrides ?? [])];
  return {
    default: effectivePolicy(options),
    capabilities: Object.fromEntries(overrides.map(([pattern, one]) => [pattern, effectivePolicy(one)])),
  };
}

function versionOf(fallback: RoutingOptions, overrides: ReadonlyMap<string, RoutingOptions>): string {
  const all = effectivePolicies({ ...fallback, overrides });
  return contentHash(JSON.stringify(all)).slice(0, VERSION_LENGTH);
}

/** Wider patterns first, so that what they say is there to be inherited. */
const rank = (pattern: string): number =>
  pattern.endsWith('.*') ? pattern.split('.').length : Number.MAX_SAFE_INTEGER;

/** The most specific first: `a.b.*`, `a.*` for `a.b.c`. */
function widerPatterns(pattern: string): string[] {
  const [domain = '', action = ''] = pattern.split('.');
  return [`${domain}.${action}.*`, `${domain}.*`].filter((wider) => wider !== pattern);
}

function policyFields(policy: StrategyPolicy | undefined): Partial<SelectionPolicy> {
  if (policy === undefined) return {};
  const { strategies, ...numbers } = policy;
  const given = Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined));
  return strategies === undefined ? given : { ...given, strategies: bindSteps(strategies) };
}
