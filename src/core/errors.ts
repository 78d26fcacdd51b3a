/**
 * The one error table. Every failure that leaves a room is an `AgentReachError` with a code from here; faces turn it
 * into a problem response (RFC 9457) by looking the code up, never by `if`. Codes are never renamed and a retired
 * code is never used again. `test/architecture.test.ts` holds this table and the README's list together.
 */
export interface ErrorDefinition {
  readonly status: number;
  /** Whose fault it is: a caller must change the request; a service fault may pass by itself. */
  readonly fault: 'caller' | 'service';
  /** True when the same request may succeed later without a change. */
  readonly retryable: boolean;
  readonly title: string;
}

const caller = (status: number, title: string, retryable = false): ErrorDefinition => ({
  status,
  fault: 'caller',
  retryable,
  title,
});
const service = (status: number, title: string, retryable = true): ErrorDefinition => ({
  status,
  fault: 'service',
  retryable,
  title,
});

export const ERRORS = {
  AR_ERR_INVALID_REQUEST: caller(400, 'The request does not fit its schema.'),
  AR_ERR_MALFORMED_JSON: caller(400, 'The body is not well-formed JSON.'),
  AR_ERR_INVALID_CURSOR: caller(400, 'The cursor was not made by this service.'),
  AR_ERR_INVALID_INTENT: caller(400, 'The intent holds no words to route on, or too many.'),
  AR_ERR_INVALID_CAPABILITY: caller(400, 'The capability name breaks the grammar domain.action.object.'),
  AR_ERR_INVALID_ENDPOINT: caller(400, 'The endpoint is not an allowed URL.'),
  AR_ERR_INVALID_RULE: caller(400, 'The rule cannot be compiled.'),
  AR_ERR_INVALID_STRATEGIES: caller(400, 'The strategies cannot be used; those before stay in force.'),
  AR_ERR_INVALID_SCHEMA: caller(400, 'The input schema is not a usable JSON Schema 2020-12.'),
  AR_ERR_INVALID_CONFIG: caller(400, 'The configuration is not valid.'),
  AR_ERR_UNAUTHENTICATED: caller(401, 'An API key is required.'),
  AR_ERR_FORBIDDEN: caller(403, 'The API key lacks the scope that this needs.'),
  AR_ERR_NOT_FOUND: caller(404, 'There is nothing at this address.'),
  AR_ERR_AGENT_NOT_FOUND: caller(404, 'No agent is registered under this id.'),
  AR_ERR_CAPABILITY_NOT_FOUND: caller(404, 'No capability is registered under this name.'),
  AR_ERR_RULE_NOT_FOUND: caller(404, 'No rule is stored under this id.'),
  AR_ERR_FEEDBACK_NOT_FOUND: caller(404, 'No feedback is stored under this id.'),
  AR_ERR_METHOD_NOT_ALLOWED: caller(405, 'This address does not take this method.'),
  AR_ERR_EVENTS_GONE: caller(410, 'The events after this one are not kept any more.'),
  AR_ERR_STALE_LEASE: caller(409, 'The lease is not the newest one of this agent.'),
  AR_ERR_RULE_CONFLICT: caller(409, 'The rules changed since they were read.'),
  AR_ERR_STRATEGIES_CONFLICT: caller(409, 'The strategies changed since they were read.'),
  AR_ERR_CAPABILITY_NOT_APPROVED: caller(409, 'The dictionary is curated and this capability is not approved.'),
  AR_ERR_CAPABILITY_DEPRECATED: caller(409, 'The capability is deprecated.'),
  AR_ERR_FEEDBACK_DECIDED: caller(409, 'The feedback was decided the other way already.'),
  AR_ERR_INDEX_SELF_CHECK: service(409, 'The new index version failed its self-check; the old one serves on.', false),
  AR_ERR_INDEX_NO_CATALOGUE: caller(409, 'The index version was written without a catalogue of its texts.'),
  AR_ERR_INDEX_OVERTAKEN: service(409, 'Another instance, or a rollback, went on with the index meanwhile.'),
  AR_ERR_LEASE_FORGOTTEN: caller(410, 'Nobody holds this lease any more: register again.'),
  AR_ERR_REQUEST_TIMEOUT: caller(408, 'The request did not arrive in time.', true),
  AR_ERR_BODY_TOO_LARGE: caller(413, 'The body is over the limit.'),
  AR_ERR_UNSUPPORTED_MEDIA_TYPE: caller(415, 'The body must be application/json.'),
  AR_ERR_HEADERS_TOO_LARGE: caller(431, 'The headers are over the limit.'),
  /** Made by clients only: their own signal ended the call. */
  AR_ERR_ABORTED: caller(499, 'The caller ended the call before it was answered.', true),
  AR_ERR_INTERNAL: service(500, 'Something failed inside the service.', false),
  /** Made by clients only: the answer came from a proxy, a page, or another service. */
  AR_ERR_FOREIGN_REPLY: service(502, 'The answer did not come from an Agent-Reach service.', false),
  /** Made by clients only: no connection, or one that broke. */
  AR_ERR_UNREACHABLE: service(503, 'The service cannot be reached.'),
  AR_ERR_MODEL_UNUSABLE: service(503, 'The embedding model cannot be used.'),
  AR_ERR_OVERLOADED: service(503, 'The service has more work than it can take.'),
  AR_ERR_STOPPING: service(503, 'The service is stopping.'),
  AR_ERR_NOT_READY: service(503, 'The service is not ready.'),
  AR_ERR_STORE_UNAVAILABLE: service(503, 'The store cannot be read or written.'),
  AR_ERR_STORE_IN_USE: service(503, 'Another process owns the store.', false),
  /** Decided again by the service itself a few times before anybody sees it. */
  AR_ERR_STORE_CONFLICT: service(503, 'Another instance changed the same thing at the same time.'),
  /** Kept inside: whoever watches the leases looks again. */
  AR_ERR_LEASE_WATCHED: service(503, 'The lease is not over, or another instance watches it.'),
  AR_ERR_INDEX_CORRUPT: service(503, 'An index version on disk cannot be used.', false),
  AR_ERR_DEADLINE: service(504, 'The deadline passed before the work was done.'),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERRORS;

/** One thing wrong with a request: where (JSON path) and what. */
export interface ErrorIssue {
  readonly path: string;
  readonly message: string;
}

export interface ErrorDetails {
  /** What went wrong here, for a person; may name ids, never secrets. */
  readonly detail?: string;
  readonly issues?: readonly ErrorIssue[];
  /** Names that were probably meant, nearest first. */
  readonly suggestions?: readonly string[];
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class AgentReachError extends Error {
  override readonly name = 'AgentReachError';
  readonly code: ErrorCode;
  readonly issues: readonly ErrorIssue[];
  readonly suggestions: readonly string[];
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.detail ?? ERRORS[code].title, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.issues = details.issues ?? [];
    this.suggestions = details.suggestions ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }

  get definition(): ErrorDefinition {
    return ERRORS[this.code];
  }
}

export function isAgentReachError(error: unknown): error is AgentReachError {
  return error instanceof AgentReachError;
}

/** Text of anything that was thrown, for logs and `cause` lines. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
