export type { AgentRecord, RegisteredAgent } from './agent-record.ts';
export {
  AgentRegistry,
  type AgentRegistryOptions,
  type AgentRegistryParts,
  DEFAULT_REGISTRY,
} from './agent-registry.ts';
export type { AgentStore, RegistryChange } from './agent-store.ts';
export type { CapabilityIndex } from './capability-index.ts';
export { FeedbackBook, type FeedbackBookParts } from './feedback-book.ts';
export type { FeedbackChange, FeedbackRecord, FeedbackStore } from './feedback-store.ts';
export { isRoutable } from './health.ts';
export { loadShare } from './heartbeat.ts';
export type { RegistryView } from './registry-view.ts';
