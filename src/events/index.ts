export { EventBus, type EventListener } from './event-bus.ts';
export type { AgentChangeEvent, AgentStateEvent, CapabilityEvent, RegistryEvent } from './registry-event.ts';
