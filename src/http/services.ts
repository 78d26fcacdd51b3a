/**
 * What the HTTP face needs of the rest of the service. Narrow and structural: compose hands in the real objects, a
 * test may hand in others. Everything that can fail rejects with an AgentReachError; a plain error becomes
 * AR_ERR_INTERNAL.
 */
import type {
  AgentPage,
  AgentView,
  CapabilityUpdate,
  CapabilityView,
  DryRunReply,
  Heartbeat,
  HeartbeatReply,
  IndexVersion,
  ListAgentsQuery,
  ListCapabilitiesQuery,
  Readiness,
  RebuildProgress,
  Registration,
  RegistrationReply,
  RouteReply,
  RouteRequest,
  Rule,
  RuleWarning,
} from '../contract/index.ts';

/** A port answers at once or later, as suits it. */
export type MaybePromise<T> = T | Promise<T>;

/** Who asks: the id of the API key (`local` where no key is needed) and its scopes (`*` = all). */
export interface HttpCaller {
  readonly requestId: string;
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
}

export interface AgentDirectory {
  register(registration: Registration): Promise<{ readonly reply: RegistrationReply; readonly created: boolean }>;
  heartbeat(agentId: string, beat: Heartbeat): MaybePromise<HeartbeatReply>;
  /** `leaseId` null: an operator's word, whatever the lease. */
  withdraw(agentId: string, leaseId: string | null): Promise<void>;
  get(agentId: string): MaybePromise<AgentView | undefined>;
  list(query: ListAgentsQuery): MaybePromise<AgentPage>;
}

export interface CapabilityDirectory {
  capabilities(
    query: ListCapabilitiesQuery,
  ): MaybePromise<{ readonly items: CapabilityView[]; readonly nextCursor: string | null }>;
  capability(namespace: string, name: string): MaybePromise<CapabilityView | undefined>;
  updateCapability(namespace: string, name: string, update: CapabilityUpdate): MaybePromise<CapabilityView>;
}

/** One past edit of the rules, newest first in lists. */
export interface RuleEdit {
  readonly version: number;
  readonly rules: readonly Rule[];
  /** Epoch milliseconds. */
  readonly editedAt: number;
  readonly editedBy: string;
  readonly change: string;
}

export interface RuleBook {
  /** Rises by one with each edit; what `If-Match` is compared with. */
  readonly version: number;
  list(): MaybePromise<readonly Rule[]>;
  get(id: string): MaybePromise<Rule | undefined>;
  put(
    rule: Rule,
    edit: { readonly by: string; readonly expectedVersion?: number },
  ): Promise<{
    readonly rule: Rule;
    readonly rulesVersion: number;
    readonly created: boolean;
    readonly warnings: readonly RuleWarning[];
  }>;
  remove(id: string, edit: { readonly by: string; readonly expectedVersion?: number }): Promise<unknown>;
  dryRun(intent: string): MaybePromise<DryRunReply>;
  history(limit: number): Promise<readonly RuleEdit[]>;
}

export interface IntentRouter {
  route(request: RouteRequest, caller: HttpCaller): Promise<RouteReply>;
  routeBatch(requests: readonly RouteRequest[], caller: HttpCaller): Promise<RouteReply[]>;
}

export interface IndexDesk {
  versions(): MaybePromise<{ readonly current: string; readonly delta: number; readonly items: IndexVersion[] }>;
  rebuild(request: {
    readonly by: string;
    readonly why: string;
    readonly onProgress?: (progress: RebuildProgress) => void;
  }): Promise<IndexVersion>;
}

export interface HttpServices {
  readonly registry: AgentDirectory & CapabilityDirectory;
  readonly rules: RuleBook;
  readonly routing: IntentRouter;
  readonly index: IndexDesk;
  /** Prometheus text, version 0.0.4. */
  metricsText(): Promise<string>;
  readiness(): Readiness;
  /** Of the service, for /healthz and the OpenAPI document. */
  readonly version: string;
}
