/** Examples of the OpenAPI document. A test parses each with its schema, so none can go stale. */
import { REGISTRATION } from './agent-examples.ts';

export const CAPABILITY_VIEW = {
  name: 'weather.query.city',
  namespace: 'default',
  status: 'active',
  replacedBy: null,
  firstOwner: 'weather-1',
  sensitive: false,
  descriptions: ['Weather forecast for a city'],
  aliases: [],
  examples: ['will it rain tomorrow', '明天杭州会下雨吗'],
  operatorExamples: ['明天杭州会下雨吗'],
  revision: 1,
  agents: 2,
  routableAgents: 2,
  firstSeenAt: '2026-01-01T00:00:00.000Z',
} as const;

export const ROUTE_REQUEST = { intent: '明天杭州会下雨吗' } as const;

export const ROUTE_BATCH = {
  requests: [{ intent: '明天杭州会下雨吗' }, { intent: 'send an email to my boss' }],
} as const;

export const ROUTE_REPLY = {
  requestId: 'req_8k2m1',
  decision: 'route',
  reason: null,
  capability: 'weather.query.city',
  agent: {
    agentId: 'weather-1',
    agentName: 'City weather',
    version: '1.4.0',
    transport: REGISTRATION.transport,
    state: 'online',
  },
  relevance: 0.93,
  score: 0.8852,
  factors: { relevance: 0.93, load: 0.25, latency: 0.024 },
  matchedBy: 'semantic',
  ambiguous: false,
  alternatives: [{ capability: 'weather.query.city', agentId: 'weather-2', relevance: 0.93, score: 0.841 }],
  degraded: false,
  indexVersion: 'v000002',
  strategiesVersion: '3f9a1c0b7d24',
  registryEpoch: 12,
  cache: 'miss',
  timings: { embed: 3.4, recall: 0.2, total: 3.9 },
} as const;

/** 订机票然后查天气 */
export const MULTI_INTENT_REPLY = {
  ...ROUTE_REPLY,
  requestId: 'req_8k2m1.1',
  decision: 'multi_intent',
  capability: null,
  agent: null,
  relevance: 0.87,
  score: null,
  factors: null,
  alternatives: [],
  intents: [
    {
      text: '订机票',
      decision: 'no_match',
      reason: 'no_agent_available',
      capability: 'travel.book.flight',
      agent: null,
      relevance: 0.87,
      score: null,
      ambiguous: false,
    },
    {
      text: '查天气',
      decision: 'route',
      reason: null,
      capability: 'weather.query.city',
      agent: ROUTE_REPLY.agent,
      relevance: 0.93,
      score: 0.8852,
      ambiguous: false,
    },
  ],
} as const;

export const FEEDBACK_REPORT = { intent: '外面要带伞吗', correct: 'weather.query.city' } as const;

export const FEEDBACK = {
  id: 'fb_12',
  status: 'pending',
  namespace: 'default',
  intent: '外面要带伞吗',
  correct: 'weather.query.city',
  answered: null,
  requestId: null,
  reports: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'web',
  decidedAt: null,
  decidedBy: null,
  effect: null,
} as const;

export const RULE = {
  id: 'invoice',
  priority: 10,
  match: 'contains',
  patterns: ['开发票', 'issue an invoice'],
  unless: ['不要开发票'],
  capability: 'finance.issue.invoice',
} as const;

export const RULE_HISTORY = {
  rulesVersion: 1,
  items: [{ version: 1, editedAt: '2026-01-01T00:00:00.000Z', editedBy: 'local', change: 'put invoice', rules: 1 }],
} as const;

export const RULE_FILE = `rules:
  - id: "invoice"
    priority: 10
    match: "contains"
    patterns:
      - "开发票"
    capability: "finance.issue.invoice"
`;

export const RULE_IMPORT_REPLY = {
  rulesVersion: 7,
  applied: false,
  created: ['invoice'],
  replaced: [],
  removed: [],
  unchanged: 0,
  warnings: [],
} as const;

export const RULE_LINT = {
  rulesVersion: 7,
  rules: 12,
  regexSteps: 120,
  maxRegexSteps: 10_000,
  items: [
    {
      id: 'invoice-2',
      code: 'unreachable',
      message: 'invoice-2 is never reached: invoice takes every text of it',
      ruleId: 'invoice',
    },
  ],
} as const;

export const AUDIT_RECORD = {
  seq: 41,
  at: '2026-01-01T00:00:00.000Z',
  requestId: 'req_8k2m1',
  keyId: 'web',
  namespace: 'default',
  capability: 'account.delete.user',
  outcome: 'scope_required',
  decision: 'no_match',
  agentId: null,
  matchedBy: 'rule',
  ruleId: 'delete-account',
  rulesVersion: 7,
  intentHash: 'd2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26',
  intent: '注销我的账号',
} as const;

export const DRY_RUN_REPLY = {
  rulesVersion: 1,
  canonicalText: '我需要开发票',
  decidedBy: 'invoice',
  capability: 'finance.issue.invoice',
  deny: false,
  namespace: 'default',
  registered: true,
  sensitive: true,
  scopes: ['sensitive', 'finance.issue.invoice'],
  rules: [
    {
      id: 'invoice',
      priority: 10,
      outcome: 'decided',
      detail: 'contains "开发票" -> finance.issue.invoice',
      found: { pattern: '开发票', start: 3, end: 6, text: '开发票' },
    },
  ],
} as const;

export const INDEX_VERSION = {
  id: 'v000002',
  modelId: 'zh-en-small',
  fingerprint: '46375b5e91059ad05cdd1b4dc7a4b8a098c9b804adf5149ac501373ea90b3fbc',
  dimensions: 384,
  kind: 'hnsw',
  count: 24,
  builtAt: '2026-01-01T00:00:00.000Z',
  buildMs: 41,
  by: 'local',
  why: 'after an import',
  embedded: 3,
  reused: 21,
  removed: 0,
  selfCheck: { recallAt10: 1, samples: 24 },
  current: true,
} as const;

export const INDEX_INSTANCE = {
  instance: '9f2c61d07b3e4a58',
  model: INDEX_VERSION.fingerprint,
  version: INDEX_VERSION.id,
  isAnswering: true,
} as const;

export const REBUILD_EVENTS = `event: progress
data: {"phase":"build","done":12,"total":24}

event: done
data: ${JSON.stringify({ version: 'v000002', report: INDEX_VERSION })}

`;

export const INDEX_HELD = { version: 'v000002', heldAt: '2026-01-01T00:00:00.000Z', by: 'local' } as const;

export const GOLDEN_LINE = {
  id: 'weather-zh',
  text: '明天杭州会下雨吗',
  capability: 'weather.query.city',
  namespace: 'default',
} as const;

export const VERIFY_REPLY = {
  version: 'v000002',
  ok: true,
  problems: [],
  recallAt10: 1,
  samples: 24,
  unreachable: [],
  golden: { right: 1, lines: 1, wrong: [] },
} as const;

export const VERIFY_EVENTS = `event: progress
data: {"phase":"check","done":12,"total":24}

event: done
data: {"version":"v000002","ok":true}

`;

export const INDEX_DIFF = {
  from: 'v000001',
  to: 'v000002',
  added: [{ namespace: 'default', capability: 'mail.send.message' }],
  removed: [],
  changed: [
    {
      namespace: 'default',
      capability: 'weather.query.city',
      texts: [{ list: 'examples', change: 'added', text: '明天杭州会下雨吗' }],
      sensitive: null,
    },
  ],
  vectors: { from: 21, to: 24 },
} as const;

export const SERVICE_CARD = {
  service: 'agent-reach',
  version: '0.1.0',
  docs: '/docs',
  openapi: '/openapi.json',
  ready: '/readyz',
} as const;

export const LIVENESS = { status: 'ok', version: '0.1.0', uptimeMs: 61_250, registry: { preserving: false } } as const;

export const READINESS = {
  ready: true,
  degraded: false,
  checks: {
    service: { ok: true, detail: 'serving' },
    model: { ok: true, detail: 'zh-en-small' },
    index: { ok: true, detail: '24 vectors' },
  },
  indexVersion: 'v000002',
  registryEpoch: 12,
} as const;

export const STRATEGIES_DOCUMENT = {
  default: {
    strategies: ['failure_domain', { name: 'affinity', maxLoad: 0.8 }, 'best'],
    weights: { relevance: 0.5, load: 0.3, latency: 0.2 },
  },
  capabilities: {
    'weather.*': { strategies: [{ name: 'canary', version: '2.*', share: 0.05 }, 'affinity', 'capacity_first'] },
  },
} as const;

const EFFECTIVE_POLICY = {
  strategies: [
    { name: 'failure_domain', maxLoad: 1 },
    { name: 'affinity', maxLoad: 0.8 },
    { name: 'best', within: 0 },
  ],
  weights: { latency: 0.2, load: 0.3, relevance: 0.5 },
  latencyBudgetMs: 5_000,
  queueLoad: 0.8,
  manyCandidates: 20,
  leastLoaded: 5,
} as const;

export const STRATEGIES_REPLY = {
  strategiesVersion: '3f9a1c0b7d24',
  source: 'api',
  document: STRATEGIES_DOCUMENT,
  warnings: [],
  effective: {
    default: EFFECTIVE_POLICY,
    capabilities: {
      'weather.*': {
        ...EFFECTIVE_POLICY,
        strategies: [
          { name: 'canary', value: 'true', version: '2.*', share: 0.05 },
          { name: 'affinity', maxLoad: 1 },
          { name: 'capacity_first' },
        ],
      },
    },
  },
  file: { path: '/etc/agent-reach/strategies.yaml', strategiesVersion: 'b01c22e94a7f', problem: null },
  api: { setBy: 'ops', setAt: '2026-01-01T00:00:00.000Z', problem: null },
  catalogue: [
    {
      name: 'failure_domain',
      kind: 'narrow',
      about: "the caller's own zone, while it has an agent that is free enough",
      parameters: { maxLoad: 'Load above which an agent of the zone counts as full; 1: until its last slot is taken.' },
    },
  ],
} as const;

export const STRATEGIES_RELOAD_REPLY = { ...STRATEGIES_REPLY, result: 'shadowed' } as const;

export const METRICS = `# HELP agent_reach_http_requests_total Answered HTTP requests.
# TYPE agent_reach_http_requests_total counter
agent_reach_http_requests_total{method="POST",route="/v1/route",status="200"} 12
`;
