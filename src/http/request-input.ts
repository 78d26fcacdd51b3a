/**
 * Everything of a request that is not its body: id, path parameters, query. Broken percent-encoding and repeated
 * query names are refused here, so that no schema sees a value that the caller did not send.
 */
import { AgentReachError, newRequestId } from '../core/index.ts';

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && SANE_REQUEST_ID.test(header) ? header : newRequestId();
}

/** The part of a URL from `?` on, without it; undefined where there is none. */
function queryOf(url: string): string | undefined {
  const at = url.indexOf('?');
  if (at < 0) return undefined;
  const end = url.indexOf('#', at);
  const query = end < 0 ? url.slice(at + 1) : url.slice(at + 1, end);
  return query === '' ? undefined : query;
}

/** Error: AR_ERR_INVALID_REQUEST. */
export function readQuery(url: string): Record<string, string> {
  const query = queryOf(url);
  if (query === undefined) return {};
  assertDecodable(query, 'query');
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name)) throw invalid(`query.${name.slice(0, 64)}`, 'is given more than once');
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** Error: AR_ERR_INVALID_REQUEST. A path without `%` costs one search. */
export function assertDecodablePath(url: string): void {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  if (path.includes('%')) assertDecodable(path, 'path');
}

function assertDecodable(encoded: string, path: string): void {
  try {
    decodeURIComponent(encoded);
  } catch {
    throw invalid(path, 'holds percent-encoding that is not UTF-8 text');
  }
}

function invalid(path: string, message: string): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: `${path}: ${message}`, issues: [{ path, message }] });
}
