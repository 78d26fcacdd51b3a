export { backoffMs } from './backoff.ts';
export { foldChinese } from './chinese-folding.ts';
export { type CancelTimer, type Clock, systemClock } from './clock.ts';
export { retryOnConflict } from './conflict-retry.ts';
export { type DiagnosticEvents, type DiagnosticName, log, publish, type StepName, subscribe } from './diagnostics.ts';
export { editDistance } from './edit-distance.ts';
export {
  AgentReachError,
  ERRORS,
  type ErrorCode,
  type ErrorDefinition,
  type ErrorDetails,
  type ErrorIssue,
  errorText,
  isAgentReachError,
} from './errors.ts';
export {
  type AgentId,
  type CapabilityName,
  type ContentHash,
  type LeaseId,
  newLeaseId,
  newRequestId,
  type RequestId,
} from './ids.ts';
export { isLoopbackHost, LOOPBACK_NETWORKS } from './loopback.ts';
export { ManualClock } from './manual-clock.ts';
export { nearestName } from './nearest-name.ts';
export { nextTurn, TurnPace } from './next-turn.ts';
export { PACKAGE_VERSION } from './package-version.ts';
export { decodeCursor, encodeCursor, pageOf } from './page-cursor.ts';
export { canonicalText, contentHash, hasWords, isWellFormedText } from './text.ts';
export { spawnWorker } from './worker-thread.ts';
export { readYaml, YamlFlaw, type YamlText, yamlValue } from './yaml-document.ts';
