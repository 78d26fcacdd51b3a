export { EventBus, type EventListener } from './event-bus.ts';
export { EventLog, type EventLogOptions, type LoggedEvent } from './event-log.ts';
export type { EventReader, ReadEvent } from './event-reader.ts';
export type { AgentChangeEvent, AgentStateEvent, CapabilityEvent, RegistryEvent } from './registry-event.ts';
