export type { AgentLiveness, AgentRecord, RegisteredAgent } from './agent-record.ts';
export type { AgentStore, RegistryChange } from './agent-store.ts';
export type { CapabilityIndex } from './capability-index.ts';
export type { RegistryView } from './registry-view.ts';
