/** Fixed answers of the contract, checked against its schemas, for the stand-in service. */
import {
  type AgentView,
  agentPageSchema,
  agentViewSchema,
  auditPageSchema,
  type CapabilityView,
  capabilityViewSchema,
  dryRunReplySchema,
  indexDiffSchema,
  indexVersionListSchema,
  type RouteReply,
  routeReplySchema,
  ruleHistorySchema,
  ruleImportReplySchema,
  ruleLintSchema,
  ruleListSchema,
  ruleReplySchema,
  verifyReplySchema,
} from '../../src/contract/index.ts';
import { AUDIT_RECORD, MULTI_INTENT_REPLY } from '../../src/http/examples.ts';

export function agentOf(agentId: string, more: Partial<AgentView> = {}): AgentView {
  return agentViewSchema.parse({
    agentId,
    agentName: '杭州天气助手',
    version: '1.4.0',
    namespace: 'default',
    state: 'online',
    stateReason: 'registered',
    incarnation: 1,
    revision: 1,
    capabilities: [{ name: 'weather.query.city', description: '城市天气预报', examples: ['明天会下雨吗'] }],
    transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
    zone: 'hz-1',
    tags: { tier: 'gold' },
    metadata: {},
    heartbeatIntervalMs: 30_000,
    timeoutMs: 5_000,
    maxConcurrency: 8,
    idempotent: true,
    load: 0.25,
    reportedLoad: { active: 2, queued: 0, max: 8 },
    avgLatencyMs: 120,
    registeredAt: '2026-01-01T00:00:00.000Z',
    lastSeenAt: '2026-01-01T00:00:30.000Z',
    expiresAt: null,
    cordoned: null,
    drain: null,
    lastProbe: null,
    ...more,
  });
}

export const agentPage = (items: AgentView[], nextCursor: string | null = null) =>
  agentPageSchema.parse({ items, nextCursor, registryEpoch: 7 });

export const capability: CapabilityView = capabilityViewSchema.parse({
  name: 'weather.query.city',
  namespace: 'default',
  status: 'active',
  replacedBy: null,
  firstOwner: 'weather-1',
  sensitive: false,
  descriptions: ['城市天气预报'],
  aliases: ['天气'],
  examples: ['明天杭州会下雨吗'],
  operatorExamples: [],
  revision: 0,
  agents: 2,
  routableAgents: 1,
  firstSeenAt: '2026-01-01T00:00:00.000Z',
});

export function routeReplyOf(more: Partial<RouteReply> = {}): RouteReply {
  return routeReplySchema.parse({
    requestId: 'req_1',
    decision: 'route',
    reason: null,
    capability: 'weather.query.city',
    agent: {
      agentId: 'weather-1',
      agentName: '杭州天气助手',
      version: '1.4.0',
      transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
      state: 'online',
    },
    relevance: 0.91,
    score: 0.8254,
    factors: { relevance: 0.91, load: 0.75, latency: 0.9 },
    matchedBy: 'semantic',
    ambiguous: false,
    alternatives: [{ capability: 'mail.send.message', agentId: 'mail-1', relevance: 0.2, score: null }],
    degraded: false,
    indexVersion: 'v000001',
    strategiesVersion: 'default',
    registryEpoch: 7,
    cache: 'miss',
    timings: { total: 4.2 },
    ...more,
  });
}

export const noMatch = routeReplyOf({
  decision: 'no_match',
  reason: 'below_min_relevance',
  capability: null,
  agent: null,
  score: null,
  factors: null,
  matchedBy: null,
});

export const queue = routeReplyOf({ decision: 'queue', reason: 'all_agents_full', agent: null, retryAfterMs: 1_000 });

const [flight, weather] = MULTI_INTENT_REPLY.intents;
/** The second text would clear the screen of whoever printed it as it is. */
export const severalIntents = routeReplySchema.parse({
  ...MULTI_INTENT_REPLY,
  intents: [flight, { ...weather, text: '查天气\u001b[2J' }],
});

export const explained = routeReplyOf({
  explain: {
    canonicalText: '明天杭州会下雨吗',
    rules: [{ id: 'invoice', outcome: 'no_match', detail: '' }],
    recall: [
      {
        capability: 'weather.query.city',
        relevance: 0.91,
        similarity: 0.7,
        lexical: 0.4,
        nearestText: '城市天气预报',
        gate: 'passed',
      },
    ],
    weights: { relevance: 0.5, load: 0.3, latency: 0.2 },
    candidates: [
      {
        capability: 'weather.query.city',
        agentId: 'weather-1',
        relevance: 0.91,
        score: 0.8254,
        parts: [
          { factor: 'relevance', value: 0.91, weight: 0.5, part: 0.455, note: '' },
          { factor: 'load', value: 0.75, weight: 0.3, part: 0.225, note: '' },
        ],
      },
    ],
    dropped: [{ agentId: 'weather-2', capability: 'weather.query.city', reason: 'offline' }],
    strategiesVersion: '3f9a1c0b7d24',
    policy: 'weather.*',
    strategies: [{ name: 'failure_domain', note: '1 of 2 are in zone hz', kept: 1, dropped: ['weather-9'] }],
  },
});

const rule = {
  id: 'invoice',
  priority: 10,
  match: 'contains',
  patterns: ['开发票'],
  capability: 'finance.issue.invoice',
};
export const ruleList = ruleListSchema.parse({
  rulesVersion: 3,
  items: [rule, { ...rule, id: 'no', capability: undefined, deny: true }],
});
export const ruleReply = ruleReplySchema.parse({
  rule,
  rulesVersion: 4,
  warnings: [{ code: 'very_broad', message: 'takes many texts' }],
});
export const ruleHistory = ruleHistorySchema.parse({
  rulesVersion: 4,
  items: [{ version: 4, editedAt: '2026-01-01T00:00:00.000Z', editedBy: 'local', change: 'put invoice', rules: 2 }],
});
export const dryRun = dryRunReplySchema.parse({
  rulesVersion: 4,
  canonicalText: '我需要开发票',
  decidedBy: 'invoice',
  capability: 'finance.issue.invoice',
  deny: false,
  namespace: 'default',
  registered: true,
  sensitive: true,
  scopes: ['sensitive', 'finance.issue.invoice'],
  rules: [{ id: 'invoice', outcome: 'decided', detail: '开发票' }],
});
const finding = { id: 'b', code: 'unreachable', message: 'b is never reached: a takes every text of it', ruleId: 'a' };
export const ruleImport = ruleImportReplySchema.parse({
  rulesVersion: 5,
  applied: true,
  created: ['b'],
  replaced: [],
  removed: ['old'],
  unchanged: 1,
  warnings: [finding],
});
export const ruleLint = ruleLintSchema.parse({
  rulesVersion: 5,
  rules: 2,
  regexSteps: 14,
  maxRegexSteps: 10_000,
  items: [finding],
});

export const indexVersions = indexVersionListSchema.parse({
  current: 'v000002',
  delta: 3,
  items: [
    {
      id: 'v000002',
      modelId: 'zh-en-small',
      fingerprint: 'f'.repeat(64),
      dimensions: 384,
      kind: 'hnsw',
      count: 40,
      builtAt: '2026-01-01T00:00:00.000Z',
      buildMs: 120,
      by: 'operator',
      why: 'command',
      embedded: 4,
      reused: 36,
      removed: 1,
      selfCheck: { recallAt10: 1, samples: 40 },
      current: true,
    },
  ],
  refused: [{ id: 'v000001', problem: 'its sidecar cannot be read' }],
  held: null,
  lastFailure: {
    at: '2026-01-02T00:00:00.000Z',
    why: 'command',
    reason: 'The new index answers 1 golden line wrong that the serving one answers right.',
    check: 'golden',
    lines: ['g1: "明天杭州会下雨吗" should be weather.query.city and is no match'],
  },
});
export const goldenLine = {
  id: 'g1',
  text: '明天杭州会下雨吗',
  capability: 'weather.query.city',
  namespace: 'default',
};
export const verified = verifyReplySchema.parse({
  version: 'v000002',
  ok: false,
  problems: ['recall@10 is 0.9000, 0.99 is needed'],
  recallAt10: 0.9,
  samples: 40,
  unreachable: [],
  golden: { right: 1, lines: 1, wrong: [] },
});
export const diffed = indexDiffSchema.parse({
  from: 'v000001',
  to: 'v000002',
  added: [{ namespace: 'team', capability: 'mail.send.message' }],
  removed: [{ namespace: 'default', capability: 'x.y.z' }],
  changed: [
    {
      namespace: 'default',
      capability: 'weather.query.city',
      texts: [{ list: 'examples', change: 'added', text: '明天杭州会下雨吗' }],
      sensitive: true,
    },
  ],
  vectors: { from: 21, to: 24 },
});

export const registered = (agentId: string, incarnation = 1) => ({
  agentId,
  leaseId: 'lease_1',
  incarnation,
  heartbeatIntervalMs: 30_000,
  warnings: [],
});

export const auditPage = auditPageSchema.parse({ items: [AUDIT_RECORD, AUDIT_RECORD], nextCursor: null });
