/**
 * What the HTTP face needs of the rest of the service. Narrow and structural: compose hands in the real objects, a
 * test may hand in others. Everything that can fail rejects with an AgentReachError; a plain error becomes
 * AR_ERR_INTERNAL.
 */
import type {
  AgentPage,
  AgentView,
  AuditPage,
  CapabilityUpdate,
  CapabilityView,
  CordonRequest,
  DrainRequest,
  DryRunReply,
  Feedback,
  FeedbackPage,
  FeedbackQuery,
  Heartbeat,
  HeartbeatBatch,
  HeartbeatBatchReply,
  HeartbeatReply,
  ListAgentsQuery,
  ListAuditQuery,
  ListCapabilitiesQuery,
  OutcomeReply,
  OutcomeReport,
  Readiness,
  Registration,
  RegistrationReply,
  Rule,
  RuleImport,
  RuleImportReply,
  RuleLint,
  RuleWarning,
} from '../contract/index.ts';
import type { EventLog } from '../events/index.ts';
import type { KnownReport } from '../registry/index.ts';
import type { Caller, GoldenService, IndexService, RoutingService, StrategyService } from '../routing/index.ts';
import type { RuleEditRecord } from '../rules/index.ts';
import type { Edit } from './if-match.ts';

/** A port answers at once or later, as suits it. */
export type MaybePromise<T> = T | Promise<T>;

/** Who asks, with the id of the API key (`local` where no key is needed). */
export interface HttpCaller extends Caller {
  readonly keyId: string;
}

export interface AgentDesk {
  register(registration: Registration): Promise<{ readonly reply: RegistrationReply; readonly created: boolean }>;
  heartbeat(agentId: string, beat: Heartbeat): MaybePromise<HeartbeatReply>;
  /** `leaseId` null: an operator's word, whatever the lease. */
  withdraw(agentId: string, leaseId: string | null): Promise<void>;
  /** Error: AR_ERR_AGENT_NOT_FOUND. */
  get(agentId: string): MaybePromise<AgentView>;
  list(query: ListAgentsQuery): MaybePromise<AgentPage>;
}

/** What is said of agents' health. `leaseId` null: an operator's word, `by` the operator's key. */
export interface AgentHealthDesk {
  /** Too many leases ran out together: nobody is evicted for now. */
  readonly preserving: boolean;
  heartbeats(batch: HeartbeatBatch): MaybePromise<HeartbeatBatchReply>;
  report(agentId: string, report: OutcomeReport): MaybePromise<OutcomeReply>;
  cordon(agentId: string, request: CordonRequest, by: string): Promise<AgentView>;
  uncordon(agentId: string): Promise<AgentView>;
  drain(agentId: string, request: DrainRequest, leaseId: string | null, by: string): Promise<AgentView>;
  endDrain(agentId: string): Promise<AgentView>;
}

export interface CapabilityDirectory {
  capabilities(
    query: ListCapabilitiesQuery,
  ): MaybePromise<{ readonly items: CapabilityView[]; readonly nextCursor: string | null }>;
  /** Error: AR_ERR_CAPABILITY_NOT_FOUND. */
  capability(namespace: string, name: string): MaybePromise<CapabilityView>;
  updateCapability(namespace: string, name: string, update: CapabilityUpdate): MaybePromise<CapabilityView>;
}

type RuleEdit = Edit<number>;

/** The set as a whole. */
export interface RuleFiles {
  importRules(request: RuleImport, edit: RuleEdit): Promise<RuleImportReply>;
  /** Answers the new version. */
  rollback(version: number, edit: RuleEdit): Promise<number>;
  exportFile(): MaybePromise<string>;
  lint(): MaybePromise<RuleLint>;
}

export interface RuleBook extends RuleFiles {
  /** Rises by one with each edit; what `If-Match` is compared with. */
  readonly version: number;
  list(): MaybePromise<readonly Rule[]>;
  /** Error: AR_ERR_RULE_NOT_FOUND. */
  get(id: string): MaybePromise<Rule>;
  /** Errors: AR_ERR_INVALID_RULE, also for an id that is an address of the API; AR_ERR_RULE_CONFLICT. */
  put(
    rule: Rule,
    edit: RuleEdit,
  ): Promise<{
    readonly rule: Rule;
    readonly rulesVersion: number;
    readonly created: boolean;
    readonly warnings: readonly RuleWarning[];
  }>;
  /** Answers the new version. */
  remove(id: string, edit: RuleEdit): Promise<number>;
  dryRun(intent: string, namespace: string): MaybePromise<DryRunReply>;
  /** Newest first. */
  history(limit: number): Promise<readonly RuleEditRecord[]>;
}

export interface FeedbackDesk {
  report(report: KnownReport, by: string): Promise<{ readonly feedback: Feedback; readonly created: boolean }>;
  list(query: FeedbackQuery): MaybePromise<FeedbackPage>;
  approve(id: string, by: string): Promise<Feedback>;
  reject(id: string, by: string): Promise<Feedback>;
}

export interface AuditBook {
  list(query: ListAuditQuery): MaybePromise<AuditPage>;
}

/** The change feed of the registry. */
export interface EventFeedService {
  readonly log: EventLog;
  /** How long nothing was heard of other instances; null while all is. */
  readonly staleMs?: () => number | null;
  /** Of the registry now. */
  epoch(): number;
}

export interface HttpServices {
  readonly events: EventFeedService;
  readonly audit: AuditBook;
  readonly registry: AgentDesk & AgentHealthDesk & CapabilityDirectory;
  readonly rules: RuleBook;
  readonly feedback: FeedbackDesk;
  readonly routing: RoutingService;
  readonly strategies: StrategyService;
  readonly index: Omit<IndexService, 'currentVersion'>;
  readonly golden: GoldenService;
  /** Prometheus text, version 0.0.4. */
  metricsText(): Promise<string>;
  readiness(): Readiness;
  /** Of the service, for /healthz and the OpenAPI document. */
  readonly version: string;
}
