/**
 * From an answer that is not a success back to the error it was made of: same code, issues and suggestions. The wire
 * body stays at hand as `cause`, with its requestId.
 */
import { AgentReachError, ERRORS, type ErrorCode, type ErrorIssue } from '../core/index.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one: unknown) => typeof one === 'string') : [];

function issuesOf(value: unknown): ErrorIssue[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) =>
    isObject(one) && typeof one.path === 'string' && typeof one.message === 'string'
      ? [{ path: one.path, message: one.message }]
      : [],
  );
}

/** `Retry-After` in seconds; its date form is not sent by this service and reads as absent. */
function retryAfterMsOf(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : undefined;
}

export interface FailedReply {
  readonly status: number;
  /** Parsed, or the text where it is no JSON. */
  readonly body: unknown;
  readonly retryAfter: string | null;
  /** What was asked, for the reader of a foreign answer: `GET http://host/v1/agents`. */
  readonly asked: string;
}

export function problemToError(reply: FailedReply): AgentReachError {
  const { status, body, asked } = reply;
  if (!isObject(body) || typeof body.code !== 'string' || !body.code.startsWith('AR_ERR_')) {
    return new AgentReachError('AR_ERR_FOREIGN_REPLY', {
      detail: `${asked} was answered with status ${status} and no problem body; is this an Agent-Reach service?`,
      cause: body,
    });
  }
  const detail = typeof body.detail === 'string' ? body.detail : undefined;
  const retryAfterMs = retryAfterMsOf(reply.retryAfter);
  const details = {
    issues: issuesOf(body.issues),
    suggestions: textsOf(body.suggestions),
    cause: body,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  if (isCode(body.code)) return new AgentReachError(body.code, detail === undefined ? details : { ...details, detail });
  // A newer service may know codes that this client does not: keep the fault's side, and name the code in words.
  const fallback = status >= 500 ? 'AR_ERR_INTERNAL' : 'AR_ERR_INVALID_REQUEST';
  return new AgentReachError(fallback, { ...details, detail: `${body.code}: ${detail ?? `status ${status}`}` });
}
