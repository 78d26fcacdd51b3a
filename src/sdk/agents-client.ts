/** Agents: announce, renew, leave, look at. */
import type { z } from 'zod';
import type {
  AgentPage,
  AgentView,
  HeartbeatReply,
  heartbeatSchema,
  listAgentsQuerySchema,
  RegistrationReply,
  registrationSchema,
} from '../contract/index.ts';
import { everyItem } from './every-item.ts';
import type { ServiceConnection } from './service-connection.ts';

/** As sent: fields with a default may be left out. */
export type RegistrationInput = z.input<typeof registrationSchema>;
export type HeartbeatInput = z.input<typeof heartbeatSchema>;
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
