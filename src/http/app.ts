/**
 * The whole HTTP face: every endpoint, its description, and one answer for everything else. Holds no state but
 * whether the service is stopping. What a request goes through is in endpoint-runner.ts.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import { type Clock, systemClock } from '../core/index.ts';
import { type ApiKey, createAuthenticator } from './api-keys.ts';
import type { Endpoint } from './endpoint.ts';
import { createHandler, createNotFoundHandler, pathPattern, type RunnerContext } from './endpoint-runner.ts';
import { registerEndpoints, writeDocument } from './openapi-document.ts';
import { problemReply } from './problem-response.ts';
import { RecentIntents } from './recent-intents.ts';
import { toResponse } from './reply.ts';
import { requestIdFrom } from './request-input.ts';
import { agentHealthEndpoints } from './routes/agent-health.ts';
import { agentEndpoints } from './routes/agents.ts';
import { auditEndpoints } from './routes/audit.ts';
import { capabilityEndpoints } from './routes/capabilities.ts';
import { docsEndpoints } from './routes/docs.ts';
import { eventEndpoints } from './routes/events.ts';
import { feedbackEndpoints } from './routes/feedback.ts';
import { goldenEndpoints } from './routes/golden.ts';
import { indexEndpoints } from './routes/index-versions.ts';
import { routingEndpoints } from './routes/routing.ts';
import { ruleEndpoints } from './routes/rules.ts';
import { serviceEndpoints } from './routes/service.ts';
import { strategyEndpoints } from './routes/strategies.ts';
import type { HttpServices } from './services.ts';

/** 1 MiB: 256 intents of 1,300 Chinese characters or 4,000 bytes, or one agent with 256 described capabilities, fit. */
export const DEFAULT_BODY_LIMIT_BYTES = 1_048_576;

export interface HttpOptions {
  /** The address the server binds to: without keys it must be a loopback one. */
  readonly host: string;
  /** Empty: everybody is the operator. */
  readonly apiKeys: readonly ApiKey[];
  readonly bodyLimitBytes?: number;
  readonly clock?: Clock;
}

export interface HttpApp {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** The OpenAPI 3.1 document. */
  document(): object;
  /** From now on requests get AR_ERR_STOPPING, and /readyz says 503. */
  beginStop(): void;
}

/** Error: AR_ERR_INVALID_CONFIG for a key that is no SHA-256, or no keys off loopback. */
export function createHttpApp(services: HttpServices, options: HttpOptions): HttpApp {
  const app = new OpenAPIHono();
  const clock = options.clock ?? systemClock;
  let isStopping = false;
  let documentText: string | undefined;
  const context: RunnerContext = {
    authenticate: createAuthenticator(options.apiKeys, options.host),
    bodyLimitBytes: options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES,
    clock,
    isStopping: () => isStopping,
  };
  const document = (): object => writeDocument(app, services.version);
  const recent = new RecentIntents(clock);
  const endpoints: readonly Endpoint[] = [
    ...routingEndpoints(services.routing, recent),
    ...agentEndpoints(services.registry, services.events, clock),
    ...eventEndpoints(services.events, clock),
    ...agentHealthEndpoints(services.registry),
    ...capabilityEndpoints(services.registry),
    ...ruleEndpoints(services.rules),
    ...strategyEndpoints(services.strategies),
    ...auditEndpoints(services.audit),
    ...feedbackEndpoints(services.feedback, recent),
    ...indexEndpoints(services.index),
    ...goldenEndpoints(services.golden),
    ...serviceEndpoints(services, {
      clock,
      isStopping: context.isStopping,
      documentText: () => {
        documentText ??= JSON.stringify(document());
        return documentText;
      },
    }),
    ...docsEndpoints(),
  ];
  registerEndpoints(app, endpoints);
  mount(app, endpoints, context);
  app.notFound(createNotFoundHandler(endpoints, context));
  app.onError((error, c) => {
    const requestId = requestIdFrom(c.req.header('x-request-id'));
    return toResponse(problemReply(error, { requestId, route: 'unknown' }), requestId);
  });
  return {
    fetch: (request, env) => app.fetch(request, env),
    document,
    beginStop() {
      isStopping = true;
    },
  };
}

/**
 * Hono's fast router takes no address that two patterns cover (/v1/rules/history and /v1/rules/{id}); with one such
 * pair every request goes through the slow one. So literal addresses are told apart inside the pattern's handler.
 */
function mount(app: OpenAPIHono, endpoints: readonly Endpoint[], context: RunnerContext): void {
  const inside = new Set<Endpoint>();
  const handlers = new Map(endpoints.map((one) => [one, createHandler(one, context)]));
  for (const [one, handler] of handlers) {
    if (!one.path.includes('{')) continue;
    const pattern = pathPattern(one.path);
    const literals = new Map<string, Handler>();
    for (const [other, otherHandler] of handlers) {
      if (other === one || other.method !== one.method || !pattern.test(other.path)) continue;
      literals.set(other.path, otherHandler);
      inside.add(other);
    }
    if (literals.size > 0) handlers.set(one, (c, next) => (literals.get(c.req.path) ?? handler)(c, next));
  }
  for (const [one, handler] of handlers) {
    if (!inside.has(one)) app.on(one.method.toUpperCase(), one.path.replaceAll(/\{(\w+)\}/g, ':$1'), handler);
  }
}
