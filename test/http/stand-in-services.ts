/**
 * Services that keep everything in maps and obey the ports' contracts, for tests of the HTTP face alone. `calls`
 * counts what reached them: a refused request must not.
 */
import type {
  AgentView,
  CapabilityView,
  Feedback,
  IndexVersion,
  Registration,
  Rule,
} from '../../src/contract/index.ts';
import { AgentReachError, type ErrorCode, hasWords } from '../../src/core/index.ts';
import { EventLog } from '../../src/events/index.ts';
import { AGENT_VIEW, HEARTBEAT_BATCH_REPLY } from '../../src/http/agent-examples.ts';
import {
  AUDIT_RECORD,
  CAPABILITY_VIEW,
  FEEDBACK,
  GOLDEN_LINE,
  INDEX_DIFF,
  INDEX_HELD,
  INDEX_VERSION,
  ROUTE_REPLY,
  RULE_FILE,
  RULE_IMPORT_REPLY,
  RULE_LINT,
  STRATEGIES_REPLY,
  VERIFY_REPLY,
} from '../../src/http/examples.ts';
import type { HttpServices } from '../../src/http/index.ts';
import type { KnownReport } from '../../src/registry/index.ts';
import type { Caller } from '../../src/routing/index.ts';
import type { RuleEditRecord } from '../../src/rules/index.ts';

export interface StandInServices extends HttpServices {
  readonly calls: string[];
  readonly callers: Caller[];
  /** Runs before each route: a test may make it wait or fail. */
  beforeRoute: () => Promise<void> | void;
  beforeRebuild: () => Promise<void> | void;
  ready: boolean;
}

export function createStandIn(): StandInServices {
  const calls: string[] = [];
  const callers: Caller[] = [];
  const agents = new Map<string, { view: AgentView; leaseId: string }>();
  const standIn: StandInServices = {
    calls,
    callers,
    events: { log: new EventLog({ id: 'test' }), epoch: () => agents.size },
    beforeRoute: () => undefined,
    beforeRebuild: () => undefined,
    ready: true,
    version: '9.9.9',
    metricsText: async () => 'up 1\n',
    readiness: () => ({ ready: standIn.ready, degraded: true, checks: {}, indexVersion: 'v000001', registryEpoch: 1 }),
    registry: { ...agentPart(agents, calls), ...healthPart(agents, calls), ...capabilityPart(calls) },
    rules: createRuleBook(calls),
    audit: { list: () => ({ items: [structuredClone(AUDIT_RECORD)], nextCursor: null }) },
    feedback: createFeedbackDesk(calls),
    routing: {
      async route(request, caller) {
        calls.push('route');
        callers.push(caller);
        await standIn.beforeRoute();
        if (request.intent !== undefined && !hasWords(request.intent))
          throw new AgentReachError('AR_ERR_INVALID_INTENT');
        return { ...structuredClone(ROUTE_REPLY), requestId: caller.requestId, alternatives: [] } as never;
      },
      async routeBatch(requests, caller) {
        calls.push('routeBatch');
        return requests.map(() => ({ ...structuredClone(ROUTE_REPLY), requestId: caller.requestId }) as never);
      },
    },
    strategies: {
      show: () => structuredClone(STRATEGIES_REPLY) as never,
      async put() {
        calls.push('putStrategies');
        return structuredClone(STRATEGIES_REPLY) as never;
      },
      async remove() {
        calls.push('removeStrategies');
        return structuredClone(STRATEGIES_REPLY) as never;
      },
      async reload() {
        calls.push('reloadStrategies');
        return 'applied';
      },
    },
    golden: {
      list: () => [{ ...GOLDEN_LINE }],
      async put(lines) {
        calls.push('golden');
        const items = lines.map((line, i) => ({
          id: line.id ?? `g${i}`,
          text: line.text,
          capability: line.capability,
          namespace: line.namespace ?? 'default',
        }));
        return { added: items.length, updated: 0, items };
      },
      async remove() {
        calls.push('removeGolden');
      },
    },
    index: {
      versions: async () => ({
        current: 'v000001',
        delta: 0,
        items: [version()],
        refused: [],
        held: null,
        lastFailure: null,
      }),
      async rollback({ version: id, by }) {
        calls.push('rollback');
        return { version: id, held: { ...INDEX_HELD, by }, restored: 1, report: version() };
      },
      async verify({ version: id = 'v000001' }) {
        calls.push('verify');
        return { ...structuredClone(VERIFY_REPLY), problems: [], unreachable: [], version: id, golden: null };
      },
      diff: async ({ from, to }) => ({ ...structuredClone(INDEX_DIFF), changed: [], added: [], removed: [], from, to }),
      async rebuild({ onProgress, by, why }) {
        calls.push('rebuild');
        onProgress?.({ phase: 'texts', done: 1, total: 2 });
        await standIn.beforeRebuild();
        onProgress?.({ phase: 'build', done: 2, total: 2 });
        return { ...version(), by, why };
      },
    },
  };
  return standIn;
}

const version = (): IndexVersion => structuredClone(INDEX_VERSION);

function agentPart(agents: Map<string, { view: AgentView; leaseId: string }>, calls: string[]) {
  const owned = (agentId: string, leaseId: string | null) => {
    const found = agents.get(agentId);
    if (found === undefined) throw new AgentReachError('AR_ERR_AGENT_NOT_FOUND', { detail: `no agent "${agentId}"` });
    if (leaseId !== null && found.leaseId !== leaseId) throw new AgentReachError('AR_ERR_STALE_LEASE');
    return found;
  };
  return {
    async register(registration: Registration) {
      calls.push('register');
      const known = agents.get(registration.agentId);
      const incarnation = (known?.view.incarnation ?? 0) + 1;
      const leaseId = `lease_${incarnation}`;
      const view = {
        ...structuredClone(AGENT_VIEW),
        agentId: registration.agentId,
        incarnation,
      } as unknown as AgentView;
      agents.set(registration.agentId, { view, leaseId });
      const { heartbeatIntervalMs } = registration;
      const reply = { agentId: registration.agentId, leaseId, incarnation, heartbeatIntervalMs, warnings: [] };
      return { reply, created: known === undefined };
    },
    heartbeat(agentId: string, beat: { leaseId: string }) {
      calls.push('heartbeat');
      const { view } = owned(agentId, beat.leaseId);
      return { agentId, incarnation: view.incarnation, state: 'online', nextHeartbeatMs: 30_000, warnings: [] };
    },
    async withdraw(agentId: string, leaseId: string | null) {
      calls.push('withdraw');
      owned(agentId, leaseId);
      agents.delete(agentId);
    },
    get: (agentId: string) => found(agents.get(agentId)?.view, 'AR_ERR_AGENT_NOT_FOUND'),
    list: () => ({ items: [...agents.values()].map((one) => one.view), nextCursor: null, registryEpoch: agents.size }),
  };
}

function healthPart(agents: Map<string, { view: AgentView; leaseId: string }>, calls: string[]) {
  const known = (call: string, agentId: string): AgentView => {
    calls.push(call);
    const found = agents.get(agentId);
    if (found === undefined) throw new AgentReachError('AR_ERR_AGENT_NOT_FOUND');
    return found.view;
  };
  return {
    preserving: false,
    heartbeats: () => {
      calls.push('heartbeats');
      return structuredClone(HEARTBEAT_BATCH_REPLY) as never;
    },
    report: (agentId: string) => {
      const { state, stateReason } = known('reportOutcome', agentId);
      return { agentId, state, stateReason, counted: true };
    },
    cordon: async (agentId: string) => known('cordon', agentId),
    uncordon: async (agentId: string) => known('uncordon', agentId),
    drain: async (agentId: string) => known('drain', agentId),
    endDrain: async (agentId: string) => known('endDrain', agentId),
  };
}

function found<Value>(value: Value | undefined, code: ErrorCode): Value {
  if (value === undefined) throw new AgentReachError(code);
  return value;
}

function capabilityPart(calls: string[]) {
  const entry = (): CapabilityView => structuredClone(CAPABILITY_VIEW) as unknown as CapabilityView;
  return {
    capabilities: () => ({ items: [entry()], nextCursor: null }),
    capability: (_namespace: string, name: string) =>
      found(name === entry().name ? entry() : undefined, 'AR_ERR_CAPABILITY_NOT_FOUND'),
    updateCapability(_namespace: string, name: string) {
      calls.push('updateCapability');
      if (name !== entry().name) throw new AgentReachError('AR_ERR_CAPABILITY_NOT_FOUND');
      return entry();
    },
  };
}

function createFeedbackDesk(calls: string[]) {
  const filed = new Map<string, Feedback>();
  const decide = async (id: string, status: 'approved' | 'rejected', decidedBy: string) => {
    calls.push(status);
    const known = filed.get(id);
    if (known === undefined) throw new AgentReachError('AR_ERR_FEEDBACK_NOT_FOUND');
    const decided: Feedback = { ...known, status, decidedBy, decidedAt: known.createdAt, effect: 'none' };
    filed.set(id, decided);
    return decided;
  };
  return {
    async report(word: KnownReport, createdBy: string) {
      calls.push('report');
      const feedback: Feedback = { ...structuredClone(FEEDBACK), ...word, id: `fb_${filed.size + 1}`, createdBy };
      filed.set(feedback.id, feedback);
      return { feedback, created: true };
    },
    list: () => ({ items: [...filed.values()], nextCursor: null, pending: filed.size }),
    approve: (id: string, by: string) => decide(id, 'approved', by),
    reject: (id: string, by: string) => decide(id, 'rejected', by),
  };
}

function createRuleBook(calls: string[]) {
  const rules = new Map<string, Rule>();
  const edits: RuleEditRecord[] = [];
  const check = (expected: number | undefined) => {
    if (expected !== undefined && expected !== edits.length) throw new AgentReachError('AR_ERR_RULE_CONFLICT');
  };
  const edited = (change: string, editedBy: string) =>
    edits.unshift({ version: edits.length + 1, ruleCount: rules.size, editedAt: 0, editedBy, change });
  return {
    get version() {
      return edits.length;
    },
    list: () => [...rules.values()],
    get: (id: string) => found(rules.get(id), 'AR_ERR_RULE_NOT_FOUND'),
    async put(rule: Rule, edit: { by: string; expectedVersion?: number }) {
      calls.push('putRule');
      check(edit.expectedVersion);
      const created = !rules.has(rule.id);
      rules.set(rule.id, rule);
      edited(`put ${rule.id}`, edit.by);
      return { rule, rulesVersion: edits.length, created, warnings: [] };
    },
    async remove(id: string, edit: { by: string; expectedVersion?: number }) {
      calls.push('removeRule');
      check(edit.expectedVersion);
      if (!rules.delete(id)) throw new AgentReachError('AR_ERR_RULE_NOT_FOUND');
      return edited(`delete ${id}`, edit.by);
    },
    async importRules() {
      calls.push('importRules');
      return { ...structuredClone(RULE_IMPORT_REPLY), rulesVersion: edits.length } as never;
    },
    async rollback(version: number, edit: { by: string; expectedVersion?: number }) {
      calls.push('rollbackRules');
      check(edit.expectedVersion);
      if (!edits.some((one) => one.version === version)) throw new AgentReachError('AR_ERR_RULE_NOT_FOUND');
      return edited(`rollback to ${version}`, edit.by);
    },
    exportFile: () => RULE_FILE,
    lint: () => structuredClone(RULE_LINT) as never,
    dryRun: (intent: string, namespace: string) => ({
      rulesVersion: edits.length,
      canonicalText: intent,
      decidedBy: null,
      capability: null,
      deny: false,
      namespace,
      registered: null,
      sensitive: null,
      scopes: [],
      rules: [],
    }),
    history: async (limit: number) => edits.slice(0, limit),
  };
}
