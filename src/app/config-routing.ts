/** The `routing` section as the options that the pipeline runs with, under whatever a strategies document says. */
import { bindSteps, DEFAULT_ROUTING, type RoutingOptions } from '../routing/index.ts';
import type { Config } from './config.ts';

export function routingOptionsOf({ routing, canary }: Pick<Config, 'routing' | 'canary'>): RoutingOptions {
  const steps = routing.strategies.map((name) => (name === 'canary' && canary !== null ? { name, ...canary } : name));
  const { strategiesVersion, policy } = DEFAULT_ROUTING;
  return { ...routing, strategies: bindSteps([...steps, routing.strategy]), strategiesVersion, policy };
}
