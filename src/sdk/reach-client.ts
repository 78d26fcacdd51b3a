/**
 * Typed client of the HTTP face. Every failure is an AgentReachError with the code that the service sent; what no
 * service answered is AR_ERR_UNREACHABLE, AR_ERR_DEADLINE or AR_ERR_FOREIGN_REPLY. Loads no schema code: the service
 * checks what it is sent.
 */
import type { z } from 'zod';
import type { livenessSchema, Readiness, RouteBatchReply, RouteReply, routeRequestSchema } from '../contract/index.ts';
import { AgentsClient } from './agents-client.ts';
import { AuditClient } from './audit-client.ts';
import { CapabilitiesClient } from './capabilities-client.ts';
import { EventsClient } from './events-client.ts';
import { FeedbackClient } from './feedback-client.ts';
import { IndexClient } from './index-client.ts';
import { problemToError } from './problem-to-error.ts';
import { RulesClient } from './rules-client.ts';
import { type ConnectionOptions, ServiceConnection } from './service-connection.ts';
import { StrategiesClient } from './strategies-client.ts';

export type RouteInput = z.input<typeof routeRequestSchema>;
export type Liveness = z.infer<typeof livenessSchema>;

export class ReachClient {
  readonly baseUrl: string;
  readonly agents: AgentsClient;
  readonly capabilities: CapabilitiesClient;
  readonly rules: RulesClient;
  readonly strategies: StrategiesClient;
  readonly audit: AuditClient;
  readonly index: IndexClient;
  readonly feedback: FeedbackClient;
  readonly events: EventsClient;
  readonly #connection: ServiceConnection;

  constructor(options: ConnectionOptions = {}) {
    this.#connection = new ServiceConnection(options);
    this.baseUrl = this.#connection.baseUrl;
    this.agents = new AgentsClient(this.#connection);
    this.capabilities = new CapabilitiesClient(this.#connection);
    this.rules = new RulesClient(this.#connection);
    this.strategies = new StrategiesClient(this.#connection);
    this.audit = new AuditClient(this.#connection);
    this.index = new IndexClient(this.#connection);
    this.feedback = new FeedbackClient(this.#connection);
    this.events = new EventsClient(this.#connection, options.clock);
  }

  /** Every decision is an answer, `no_match` and `queue` too. */
  route(request: RouteInput): Promise<RouteReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'route'], body: request });
  }

  /** Up to 256; results in the order of the requests. */
  routeBatch(requests: readonly RouteInput[]): Promise<RouteBatchReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'route', 'batch'], body: { requests } });
  }

  /** Also answers while the service is not ready: look at `ready`. */
  async ready(): Promise<Readiness> {
    const answer = await this.#connection.call<Readiness | { code: string }>({
      method: 'GET',
      path: ['readyz'],
      answers: [503],
    });
    if ('ready' in answer) return answer;
    throw problemToError({ status: 503, body: answer, retryAfter: null, asked: `GET ${this.baseUrl}/readyz` });
  }

  health(): Promise<Liveness> {
    return this.#connection.call({ method: 'GET', path: ['healthz'] });
  }
}
