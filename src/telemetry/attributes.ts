/**
 * Every name under which the service is seen from outside: metrics, their labels, and the values a label may have.
 * Dashboards hang on these; a name is added, never changed. Label values that a caller could invent are folded into
 * `other`, so the number of series is bounded whatever is sent.
 */
export const METRIC = {
  httpRequests: 'agent_reach_http_requests_total',
  httpDuration: 'agent_reach_http_request_duration_seconds',
  decisions: 'agent_reach_route_decisions_total',
  decided: 'agent_reach_routes_decided_total',
  routed: 'agent_reach_routes_routed_total',
  routeProbes: 'agent_reach_route_probes_total',
  routeHitShare: 'agent_reach_route_hit_share',
  noMatchShare: 'agent_reach_route_no_match_share',
  driftIndex: 'agent_reach_route_drift_index',
  stageDuration: 'agent_reach_route_stage_duration_seconds',
  cacheOutcomes: 'agent_reach_route_cache_total',
  degradedRoutes: 'agent_reach_routes_degraded_total',
  embeddingBatchTexts: 'agent_reach_embedding_batch_texts',
  embeddingBatchDuration: 'agent_reach_embedding_batch_duration_seconds',
  embeddingQueue: 'agent_reach_embedding_queue_texts',
  embeddingReady: 'agent_reach_embedding_ready',
  indexVersion: 'agent_reach_index_version_info',
  indexVectors: 'agent_reach_index_vectors',
  indexBuilds: 'agent_reach_index_builds_total',
  indexCheckFailures: 'agent_reach_index_check_failures_total',
  indexRollbacks: 'agent_reach_index_rollbacks_total',
  indexGolden: 'agent_reach_index_golden_lines',
  indexMemory: 'agent_reach_index_memory_bytes',
  indexBuildDuration: 'agent_reach_index_build_duration_seconds',
  strategyReloads: 'agent_reach_strategies_reload_total',
  strategiesVersion: 'agent_reach_strategies_info',
  rules: 'agent_reach_rules',
  rulesVersion: 'agent_reach_rules_version',
  ruleRegexSteps: 'agent_reach_rule_regex_steps',
  ruleEvaluations: 'agent_reach_rule_evaluations_total',
  rulesTried: 'agent_reach_rules_tried_total',
  auditRecords: 'agent_reach_audit_records_total',
  agents: 'agent_reach_agents',
  registryEpoch: 'agent_reach_registry_epoch',
  registryPreserving: 'agent_reach_registry_preserving',
} as const;

export const HTTP_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Stages of a route, in their order, and the whole. */
export const ROUTE_STAGES: ReadonlySet<string> = new Set(['embed', 'recall', 'meaning', 'select', 'total']);

export const AGENT_STATES = ['online', 'suspect', 'busy', 'draining', 'ejected', 'cordoned', 'offline'] as const;

/** A route is 10 us from the cache and some ms with the model, so the buckets start low. */
export const STAGE_BUCKETS_SECONDS = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
];
export const HTTP_BUCKETS_SECONDS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export const BUILD_BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300];
export const BATCH_BUCKETS_TEXTS = [1, 2, 4, 8, 12, 16, 32];

/** What a new version is tried on, and what kept it from getting that far. */
export const INDEX_CHECKS = ['recall', 'reachable', 'golden', 'none'] as const;

export const RELOAD_RESULTS = ['applied', 'unchanged', 'shadowed', 'refused'] as const;

export const OTHER = 'other';

export function boundedLabel(value: string, allowed: ReadonlySet<string>): string {
  return allowed.has(value) ? value : OTHER;
}

/** Fields of log lines that hold secrets, at the top and one level down. */
const SECRET_FIELDS = [
  'apiKey',
  'authorization',
  'cookie',
  'leaseId',
  'password',
  'secret',
  'token',
  'redisUrl',
  '["x-api-key"]',
  '["agent-lease"]',
];
export const REDACTED_PATHS: string[] = SECRET_FIELDS.flatMap((field) => [
  field,
  field.startsWith('[') ? `*${field}` : `*.${field}`,
]);
