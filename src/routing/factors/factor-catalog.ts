import type { RoutingFactor } from './factor.ts';
import { latencyFactor } from './latency.ts';
import { loadFactor } from './load.ts';
import { relevanceFactor } from './relevance.ts';

/** Every factor there is, in the order shown. The weights are config; a factor without one has weight 0. */
export const FACTORS: readonly RoutingFactor[] = [relevanceFactor, loadFactor, latencyFactor];
