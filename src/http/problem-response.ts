/**
 * The one place where an error becomes an answer (RFC 9457). The status, the title and whether a retry can help come
 * from the error table by code; an error that is not ours says AR_ERR_INTERNAL and nothing of itself, and is logged.
 */
import { HTTPException } from 'hono/http-exception';
import type { Problem } from '../contract/index.ts';
import { AgentReachError, ERRORS, type ErrorCode, errorText, isAgentReachError, log } from '../core/index.ts';
import type { Reply } from './reply.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';
const DEFAULT_RETRY_AFTER_SECONDS = 1;
/** Rooms may quote what they were sent; no more of it than this goes back. */
const MAX_DETAIL = 500;

export interface ProblemContext {
  readonly requestId: string;
  /** For the log only. */
  readonly route: string;
}

export function problemReply(error: unknown, context: ProblemContext, headers: Record<string, string> = {}): Reply {
  const known = knownError(error, context);
  const { status, retryable } = known.definition;
  const retryAfter = retryAfterSeconds(known, status, retryable);
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="agent-reach"';
  if (known.code === 'AR_ERR_STOPPING') headers.connection = 'close';
  return { status, body: JSON.stringify(problemOf(known, context.requestId)), contentType: PROBLEM_TYPE, headers };
}

/** The problem body alone, for streams that have already sent their status. */
export function problemBody(error: unknown, context: ProblemContext): Problem {
  return problemOf(knownError(error, context), context.requestId);
}

function problemOf(error: AgentReachError, requestId: string): Problem {
  const { status, title, retryable } = error.definition;
  return {
    type: problemType(error.code),
    title,
    status,
    detail: clipped(error.message),
    code: error.code,
    requestId,
    retryable,
    issues: error.issues.map(({ path, message }) => ({ path: clipped(path), message: clipped(message) })),
    ...(error.suggestions.length === 0 ? {} : { suggestions: [...error.suggestions] }),
  };
}

export function problemType(code: ErrorCode): string {
  return `urn:agent-reach:error:${code}`;
}

const clipped = (text: string): string =>
  text.length <= MAX_DETAIL ? text.toWellFormed() : `${text.slice(0, MAX_DETAIL - 1).toWellFormed()}…`;

function retryAfterSeconds(error: AgentReachError, status: number, retryable: boolean): number | undefined {
  if (error.retryAfterMs !== undefined) return Math.max(1, Math.ceil(error.retryAfterMs / 1_000));
  return retryable && status === 503 ? DEFAULT_RETRY_AFTER_SECONDS : undefined;
}

function knownError(error: unknown, context: ProblemContext): AgentReachError {
  if (isAgentReachError(error)) {
    if (error.definition.status >= 500) logFailure('a request failed', error, context, error.code);
    return error;
  }
  if (error instanceof HTTPException && error.status < 500) {
    return new AgentReachError(codeOfStatus(error.status), { cause: error });
  }
  logFailure('a request failed for an unknown reason', error, context, 'AR_ERR_INTERNAL');
  return new AgentReachError('AR_ERR_INTERNAL', { cause: error });
}

/** The framework throws by status; the first code of the table with it says the same. */
function codeOfStatus(status: number): ErrorCode {
  for (const [code, definition] of Object.entries(ERRORS)) if (definition.status === status) return code as ErrorCode;
  return 'AR_ERR_INVALID_REQUEST';
}

function logFailure(message: string, error: unknown, context: ProblemContext, code: ErrorCode): void {
  const cause = error instanceof Error && error.cause !== undefined ? { cause: errorText(error.cause) } : {};
  const stack = code === 'AR_ERR_INTERNAL' && error instanceof Error ? { stack: error.stack } : {};
  // Shedding load is meant to be cheap and frequent; a line for each would bury the rest.
  const isShedding = code === 'AR_ERR_OVERLOADED' || code === 'AR_ERR_STOPPING';
  log(code === 'AR_ERR_INTERNAL' ? 'error' : isShedding ? 'debug' : 'warn', message, {
    requestId: context.requestId,
    route: context.route,
    code,
    error: errorText(error),
    ...cause,
    ...stack,
  });
}
