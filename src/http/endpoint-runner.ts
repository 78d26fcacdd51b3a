/**
 * The path of every request, in order: request id, stopping, who asks, may they, the body, the handler, the answer,
 * one `http.request` event. One function instead of stacked middleware: the hot route pays for nothing it does not
 * use, and every refusal leaves as a problem response with the request's id.
 */
import { IncomingMessage } from 'node:http';
import type { Context, Handler } from 'hono';
import { AgentReachError, type Clock, publish } from '../core/index.ts';
import { type Authenticate, assertScope, type Identity, type ReadHeader } from './api-keys.ts';
import type { Endpoint } from './endpoint.ts';
import { problemReply } from './problem-response.ts';
import { type Reply, toResponse } from './reply.ts';
import { readJsonBody } from './request-body.ts';
import { assertDecodablePath, requestIdFrom } from './request-input.ts';

export interface RunnerContext {
  readonly authenticate: Authenticate;
  readonly bodyLimitBytes: number;
  readonly clock: Clock;
  isStopping(): boolean;
}

export function createHandler(endpoint: Endpoint, context: RunnerContext): Handler {
  return async (c) => {
    const startedAt = context.clock.now();
    const incoming = incomingOf(c);
    const header = headerReader(c, incoming);
    const requestId = requestIdFrom(header('x-request-id'));
    let reply: Reply;
    try {
      reply = await answer(endpoint, context, { c, incoming, header, requestId });
    } catch (error) {
      reply = problemReply(error, { requestId, route: endpoint.path });
    }
    const response = toResponse(reply, requestId);
    publish('http.request', {
      method: c.req.method,
      route: endpoint.path,
      status: reply.status,
      durationMs: context.clock.now() - startedAt,
    });
    return response;
  };
}

/** The request as Node sees it; absent where the app is called without a server. */
function incomingOf(c: Context): IncomingMessage | undefined {
  const incoming: unknown = (c.env as { readonly incoming?: unknown } | undefined)?.incoming;
  return incoming instanceof IncomingMessage ? incoming : undefined;
}

/** Node has parsed the headers already; a `Headers` object over them would cost more than all reads of it. */
function headerReader(c: Context, incoming: IncomingMessage | undefined): ReadHeader {
  if (incoming === undefined) return (name) => c.req.raw.headers.get(name) ?? undefined;
  const { headers } = incoming;
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}

interface Arrival {
  readonly c: Context;
  readonly incoming: IncomingMessage | undefined;
  readonly header: ReadHeader;
  readonly requestId: string;
}

async function answer(endpoint: Endpoint, context: RunnerContext, arrival: Arrival): Promise<Reply> {
  const { c, incoming, header, requestId } = arrival;
  if (context.isStopping() && endpoint.answersWhileStopping !== true) throw new AgentReachError('AR_ERR_STOPPING');
  const identity = admit(endpoint, context.authenticate, header);
  const url = c.req.raw.url;
  assertDecodablePath(url);
  const sentBody =
    endpoint.body === undefined
      ? undefined
      : await readJsonBody(incoming ?? c.req.raw, header, {
          limitBytes: Math.max(context.bodyLimitBytes, endpoint.body.limitBytes ?? 0),
          emptyValue: endpoint.body.emptyValue,
        });
  const caller = { requestId, keyId: identity.keyId, scopes: identity.scopes };
  return endpoint.answer({ url, sentBody, params: endpoint.params === undefined ? {} : c.req.param(), caller, header });
}

const ANYBODY: Identity = { keyId: 'anonymous', scopes: new Set() };

function admit(endpoint: Endpoint, authenticate: Authenticate, header: ReadHeader): Identity {
  const access = typeof endpoint.access === 'function' ? endpoint.access(header) : endpoint.access;
  if (access === 'open') return ANYBODY;
  const identity = authenticate(header);
  assertScope(identity, access);
  return identity;
}

/** Our paths are literal segments and {name}, so nothing needs escaping but the dot. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/{}]+')}$`);
}

/** Addresses that no endpoint has, and methods that an address does not take. */
export function createNotFoundHandler(
  endpoints: readonly Endpoint[],
  context: RunnerContext,
): (c: Context) => Response {
  const patterns = [...new Set(endpoints.map((one) => one.path))].map((path) => ({
    path,
    regex: pathPattern(path),
    allow: allowOf(endpoints.filter((one) => one.path === path)),
  }));
  return (c) => {
    const startedAt = context.clock.now();
    const requestId = requestIdFrom(c.req.header('x-request-id'));
    const known = patterns.find((one) => one.regex.test(c.req.path));
    const route = known?.path ?? 'unknown';
    const error = notFoundError(context, known?.allow);
    const reply = problemReply(
      error,
      { requestId, route },
      error.code === 'AR_ERR_METHOD_NOT_ALLOWED' && known !== undefined ? { allow: known.allow } : {},
    );
    publish('http.request', {
      method: c.req.method,
      route,
      status: reply.status,
      durationMs: context.clock.now() - startedAt,
    });
    return toResponse(reply, requestId);
  };
}

function notFoundError(context: RunnerContext, allow: string | undefined): AgentReachError {
  if (context.isStopping()) return new AgentReachError('AR_ERR_STOPPING');
  if (allow === undefined) return new AgentReachError('AR_ERR_NOT_FOUND', { detail: 'see /docs for the addresses' });
  return new AgentReachError('AR_ERR_METHOD_NOT_ALLOWED', { detail: `this address takes ${allow}` });
}

function allowOf(endpoints: readonly Endpoint[]): string {
  const methods = endpoints.map((one) => one.method.toUpperCase());
  if (methods.includes('GET')) methods.push('HEAD');
  return methods.sort().join(', ');
}
