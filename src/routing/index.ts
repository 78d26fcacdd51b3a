export { CapabilityIndexer, type CapabilityIndexerOptions } from './capability-indexer.ts';
export { IndexRebuilder, type IndexRebuilderOptions } from './index-rebuilder.ts';
export { degradedReasonOf } from './recall.ts';
export { Router, type RouterOptions } from './router.ts';
export { type CanaryOptions, DEFAULT_ROUTING, type RoutingOptions } from './routing-options.ts';
export type { Caller, IndexService, RoutingService } from './routing-service.ts';
export { STRATEGIES } from './strategies/strategy-catalog.ts';
export type { VectorStore } from './vector-store.ts';
