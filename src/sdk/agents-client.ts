/** Agents: announce, renew, report on, fence off, leave, look at. */
import type { z } from 'zod';
import type {
  AgentPage,
  AgentView,
  DrainRequest,
  HeartbeatBatchReply,
  HeartbeatReply,
  heartbeatSchema,
  listAgentsQuerySchema,
  OutcomeReply,
  OutcomeReport,
  RegistrationReply,
  registrationSchema,
} from '../contract/index.ts';
import { everyItem } from './every-item.ts';
import type { ServiceConnection } from './service-connection.ts';

/** As sent: fields with a default may be left out. */
export type RegistrationInput = z.input<typeof registrationSchema>;
export type HeartbeatInput = z.input<typeof heartbeatSchema>;
export type BatchedHeartbeat = HeartbeatInput & { readonly agentId: string };
export type AgentQuery = Partial<z.output<typeof listAgentsQuerySchema>>;

export class AgentsClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  /** Answered once the agent is routable; a second registration of one agentId replaces the first. */
  register(registration: RegistrationInput): Promise<RegistrationReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'agents'], body: registration });
  }

  heartbeat(agentId: string, heartbeat: HeartbeatInput): Promise<HeartbeatReply> {
    return this.#connection.call({ method: 'PUT', path: ['v1', 'agents', agentId, 'heartbeat'], body: heartbeat });
  }

  /** At most 1,000 at once; a refused one is told in its place and keeps none of the others from counting. */
  heartbeats(beats: readonly BatchedHeartbeat[]): Promise<HeartbeatBatchReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'heartbeats'], body: { beats } });
  }

  /** What became of work given to the agent: failures make it suspect, many of them put it aside. */
  report(agentId: string, report: OutcomeReport): Promise<OutcomeReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'agents', agentId, 'report'], body: report });
  }

  /** An operator's word: no work for the agent until `uncordon`, whatever it says and however often it starts. */
  cordon(agentId: string, reason: string): Promise<AgentView> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'agents', agentId, 'cordon'], body: { reason } });
  }

  uncordon(agentId: string): Promise<AgentView> {
    return this.#connection.call({ method: 'DELETE', path: ['v1', 'agents', agentId, 'cordon'] });
  }

  /** No new work, offline at the deadline. With `leaseId` the agent's own word, without it an operator's. */
  drain(agentId: string, request: DrainRequest = {}, leaseId?: string): Promise<AgentView> {
    return this.#connection.call({
      method: 'POST',
      path: ['v1', 'agents', agentId, 'drain'],
      body: request,
      ...(leaseId === undefined ? {} : { headers: { 'agent-lease': leaseId } }),
    });
  }

  /** Takes a drain back that is not over. */
  endDrain(agentId: string): Promise<AgentView> {
    return this.#connection.call({ method: 'DELETE', path: ['v1', 'agents', agentId, 'drain'] });
  }

  /** With `leaseId` the agent itself leaves; without it an operator removes the agent, whatever its lease. */
  withdraw(agentId: string, leaseId?: string): Promise<void> {
    return this.#connection.call({
      method: 'DELETE',
      path: ['v1', 'agents', agentId],
      ...(leaseId === undefined ? {} : { headers: { 'agent-lease': leaseId } }),
    });
  }

  get(agentId: string): Promise<AgentView> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'agents', agentId] });
  }

  /** One page; `nextCursor` is null on the last. */
  list(query: AgentQuery = {}): Promise<AgentPage> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'agents'], query });
  }

  all(query: Omit<AgentQuery, 'cursor'> = {}): AsyncGenerator<AgentView> {
    return everyItem((cursor) => this.list(cursor === undefined ? query : { ...query, cursor }));
  }
}
