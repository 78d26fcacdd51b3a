export type { BeatSharing } from './agent-health.ts';
export type { AgentFacts } from './agent-ledger.ts';
export type { AgentLiveness, AgentRecord, Cordon, Drain, RegisteredAgent } from './agent-record.ts';
export {
  AgentRegistry,
  type AgentRegistryOptions,
  type AgentRegistryParts,
  DEFAULT_REGISTRY,
} from './agent-registry.ts';
export type { AgentStore, RegistryChange } from './agent-store.ts';
export type { CapabilityIndex } from './capability-index.ts';
export { ChangeTeller } from './change-teller.ts';
export { FeedbackBook, type FeedbackBookParts, type KnownReport } from './feedback-book.ts';
export type { FeedbackChange, FeedbackRecord, FeedbackStore } from './feedback-store.ts';
export { isHealthy, isLapsed, isRoutable, isUnanswered } from './health.ts';
export {
  type HealthProber,
  HttpHealthProber,
  type HttpHealthProberParts,
  type ProbeAnswer,
  type Resolve,
} from './health-prober.ts';
export { InFlightBook } from './in-flight.ts';
export { freeSlots, loadShare, scoredLoad } from './load.ts';
export { defaultProbeNetworks, isNetwork, NetworkPolicy } from './network-policy.ts';
export type { HeardBeat, HeardState, RegistryFollower } from './registry-follower.ts';
export type { RegistryView } from './registry-view.ts';
