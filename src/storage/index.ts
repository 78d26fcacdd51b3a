export { KeyValueAgentStore } from './agent-store.ts';
export { KeyValueFeedbackStore } from './feedback-store.ts';
export type { KeyValueStore } from './key-value-store.ts';
export { LmdbStore } from './lmdb/lmdb-store.ts';
export { MemoryStore } from './memory/memory-store.ts';
export { RedisStore, type RedisStoreOptions } from './redis/redis-store.ts';
export { KEPT_RULE_VERSIONS, KeyValueRuleStore } from './rule-store.ts';
export { KeyValueVectorStore } from './vector-store.ts';
