export {
  type AgentQuery,
  AgentsClient,
  type BatchedHeartbeat,
  type HeartbeatInput,
  type RegistrationInput,
} from './agents-client.ts';
export { AuditClient, type AuditQuery } from './audit-client.ts';
export { CapabilitiesClient, type CapabilityQuery } from './capabilities-client.ts';
export { EventsClient, type FollowOptions } from './events-client.ts';
export { FeedbackClient, type FeedbackInput } from './feedback-client.ts';
export { IndexClient, type RebuildOptions, type VerifyOptions } from './index-client.ts';
export { type FailedReply, problemToError } from './problem-to-error.ts';
export { type Liveness, ReachClient, type RouteInput } from './reach-client.ts';
export { type RuleEditOptions, type RuleImportInput, type RuleInput, RulesClient } from './rules-client.ts';
export { type ConnectionOptions, DEFAULT_BASE_URL } from './service-connection.ts';
export { StrategiesClient, type StrategyEditOptions } from './strategies-client.ts';
