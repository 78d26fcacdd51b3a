/** The service about itself: alive, ready, measured, described. Probes and documents need no key. */
import { z } from 'zod';
import { livenessSchema, type Readiness, readinessSchema } from '../../contract/index.ts';
import type { Clock } from '../../core/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { LIVENESS, METRICS, READINESS, SERVICE_CARD } from '../examples.ts';
import { jsonReply } from '../reply.ts';
import type { HttpServices } from '../services.ts';

const TAG = 'service';
const serviceCardSchema = z.strictObject({
  service: z.string(),
  version: z.string(),
  docs: z.string(),
  openapi: z.string(),
  ready: z.string(),
});

export interface ServiceFacts {
  readonly clock: Clock;
  isStopping(): boolean;
  /** JSON text, written once. */
  documentText(): string;
}

type Described = Pick<HttpServices, 'events' | 'metricsText' | 'readiness' | 'registry' | 'version'>;

export function serviceEndpoints(services: Described, facts: ServiceFacts): Endpoint[] {
  return [home(services), liveness(services, facts), readiness(services, facts), metrics(services), document(facts)];
}

const home = ({ version }: Described): Endpoint =>
  endpoint({
    method: 'get',
    path: '/',
    operationId: 'readService',
    tag: TAG,
    access: 'open',
    summary: 'What this is and where its documentation lies',
    replies: {
      200: { description: 'Name, version and addresses.', schema: serviceCardSchema, example: SERVICE_CARD },
    },
    errors: [],
    handle: () => jsonReply(200, { ...SERVICE_CARD, version }),
  });

const liveness = ({ events, registry, version }: Described, { clock }: ServiceFacts): Endpoint => {
  const startedAt = clock.now();
  return endpoint({
    method: 'get',
    path: '/healthz',
    operationId: 'readLiveness',
    tag: TAG,
    access: 'open',
    answersWhileStopping: true,
    summary: 'Whether the process answers at all',
    replies: { 200: { description: 'It does.', schema: livenessSchema, example: LIVENESS } },
    errors: [],
    handle() {
      const uptimeMs = Math.round(clock.now() - startedAt);
      const staleMs = events.staleMs?.() ?? null;
      const stale = staleMs === null ? {} : { stale: true, staleMs };
      const flags = { preserving: registry.preserving };
      return jsonReply(200, { status: 'ok', version, uptimeMs, registry: flags, ...stale });
    },
  });
};

const readiness = (services: Described, { isStopping }: ServiceFacts): Endpoint =>
  endpoint({
    method: 'get',
    path: '/readyz',
    operationId: 'readReadiness',
    tag: TAG,
    access: 'open',
    answersWhileStopping: true,
    summary: 'Whether to send traffic here',
    description: 'Degraded (no model: routing goes on by words) counts as ready and says so.',
    replies: {
      200: { description: 'Ready, perhaps degraded.', schema: readinessSchema, example: READINESS },
      503: {
        description: 'Starting, stopping, or something needed is missing.',
        schema: readinessSchema,
        example: {
          ...READINESS,
          ready: false,
          checks: { ...READINESS.checks, service: { ok: false, detail: 'stopping' } },
        },
      },
    },
    errors: [],
    handle() {
      const found = services.readiness();
      const now = isStopping() ? stopping(found) : found;
      return jsonReply(now.ready ? 200 : 503, now);
    },
  });

function stopping(readiness: Readiness): Readiness {
  return { ...readiness, ready: false, checks: { ...readiness.checks, service: { ok: false, detail: 'stopping' } } };
}

const metrics = (services: Described): Endpoint =>
  endpoint({
    method: 'get',
    path: '/metrics',
    operationId: 'readMetrics',
    tag: TAG,
    access: 'key',
    answersWhileStopping: true,
    summary: 'Metrics in the Prometheus text format',
    replies: { 200: { description: 'Format 0.0.4.', contentType: 'text/plain', example: METRICS } },
    errors: [],
    handle: async () => ({
      status: 200,
      body: await services.metricsText(),
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
    }),
  });

const document = ({ documentText }: ServiceFacts): Endpoint =>
  endpoint({
    method: 'get',
    path: '/openapi.json',
    operationId: 'readOpenApi',
    tag: TAG,
    access: 'open',
    summary: 'This document: OpenAPI 3.1',
    replies: {
      200: {
        description: 'The document.',
        schema: z.looseObject({ openapi: z.string() }),
        example: { openapi: '3.1.0', info: { title: 'Agent-Reach', version: '0.1.0' }, paths: {} },
      },
    },
    errors: [],
    handle: () => ({ status: 200, body: documentText(), contentType: 'application/json; charset=utf-8' }),
  });
