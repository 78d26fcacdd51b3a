/** Agents: announce, renew, look up, leave. */
import { z } from 'zod';
import {
  agentIdField,
  agentPageSchema,
  agentViewSchema,
  heartbeatReplySchema,
  heartbeatSchema,
  leaseIdField,
  listAgentsQuerySchema,
  type Registration,
  type RegistrationReply,
  readOlderHeartbeat,
  readOlderRegistration,
  registrationReplySchema,
  registrationSchema,
} from '../../contract/index.ts';
import type { Clock } from '../../core/index.ts';
import {
  AGENT_PAGE,
  AGENT_VIEW,
  HEARTBEAT,
  HEARTBEAT_REPLY,
  REGISTRATION,
  REGISTRATION_REPLY,
} from '../agent-examples.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { epochMoved } from '../epoch-wait.ts';
import { olderSpellingWarnings } from '../older-spelling-warning.ts';
import { emptyReply, jsonReply } from '../reply.ts';
import { parseWith } from '../schema-issues.ts';
import type { AgentDesk, EventFeedService } from '../services.ts';

const TAG = 'agents';
const agentParams = z.strictObject({ agentId: agentIdField });

export function agentEndpoints(registry: AgentDesk, events: EventFeedService, clock: Clock): Endpoint[] {
  return [
    registerAgent(registry),
    listAgents(registry, events, clock),
    readAgent(registry),
    renewLease(registry),
    withdrawAgent(registry),
  ];
}

const registerAgent = (registry: AgentDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/agents',
    operationId: 'registerAgent',
    tag: TAG,
    access: 'register',
    summary: 'Register an agent, or a new start of a known one',
    description:
      'An upsert by agentId: each call gives a new lease and a higher incarnation. The agent is routable once this ' +
      'answers. One that says what the last one said changes nothing that others see. Older field spellings are read ' +
      'too, and named in `warnings`.',
    body: { schema: registrationSchema, example: REGISTRATION, readOlder: readOlderRegistration },
    replies: {
      201: { description: 'The agent is new.', schema: registrationReplySchema, example: REGISTRATION_REPLY },
      200: {
        description: 'The agent was known; its older lease ended.',
        schema: registrationReplySchema,
        example: { ...REGISTRATION_REPLY, incarnation: 2 },
      },
    },
    errors: [
      'AR_ERR_INVALID_CAPABILITY',
      'AR_ERR_INVALID_ENDPOINT',
      'AR_ERR_INVALID_SCHEMA',
      'AR_ERR_CAPABILITY_NOT_APPROVED',
      'AR_ERR_CAPABILITY_DEPRECATED',
      'AR_ERR_OVERLOADED',
      'AR_ERR_STORE_UNAVAILABLE',
      'AR_ERR_STORE_IN_USE',
    ],
    async handle({ body, sentBody }) {
      const { reply, created } = await registry.register(body);
      return jsonReply(created ? 201 : 200, withOlderSpellings(reply, body, sentBody));
    },
  });

function withOlderSpellings(reply: RegistrationReply, body: Registration, sentBody: unknown): RegistrationReply {
  const older = olderSpellingWarnings(sentBody, body);
  return older.length === 0 ? reply : { ...reply, warnings: [...reply.warnings, ...older] };
}

const listAgents = (registry: AgentDesk, events: EventFeedService, clock: Clock): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/agents',
    operationId: 'listAgents',
    tag: TAG,
    access: 'key',
    summary: 'List agents',
    description:
      'Filters are joined by "and". `nextCursor` of one page is `cursor` of the next; null ends the list. With ' +
      '`waitIndex` (the `registryEpoch` of the last answer) it answers once the registry has changed, at the latest ' +
      'after `waitMs` (default 30,000).',
    query: listAgentsQuerySchema,
    replies: { 200: { description: 'One page, by agentId.', schema: agentPageSchema, example: AGENT_PAGE } },
    errors: ['AR_ERR_INVALID_CURSOR'],
    async handle({ query: { waitIndex, waitMs, ...query } }) {
      if (waitIndex !== undefined) await epochMoved(events, clock, { waitIndex, waitMs });
      return jsonReply(200, await registry.list(query));
    },
  });

const readAgent = (registry: AgentDesk): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/agents/{agentId}',
    operationId: 'readAgent',
    tag: TAG,
    access: 'key',
    summary: 'Read one agent',
    params: agentParams,
    replies: { 200: { description: 'The agent, alive or offline.', schema: agentViewSchema, example: AGENT_VIEW } },
    errors: ['AR_ERR_AGENT_NOT_FOUND'],
    handle: async ({ params }) => jsonReply(200, await registry.get(params.agentId)),
  });

const renewLease = (registry: AgentDesk): Endpoint =>
  endpoint({
    method: 'put',
    path: '/v1/agents/{agentId}/heartbeat',
    operationId: 'renewLease',
    tag: TAG,
    access: 'register',
    summary: 'Renew the lease and report load',
    description:
      'A lease that another start of the agent took over is AR_ERR_STALE_LEASE: stop beating. One that nobody knows ' +
      'any more is AR_ERR_LEASE_FORGOTTEN: register again.',
    params: agentParams,
    body: { schema: heartbeatSchema, example: HEARTBEAT, readOlder: readOlderHeartbeat },
    replies: {
      200: { description: 'The lease is renewed.', schema: heartbeatReplySchema, example: HEARTBEAT_REPLY },
    },
    errors: ['AR_ERR_LEASE_FORGOTTEN', 'AR_ERR_STALE_LEASE', 'AR_ERR_STORE_UNAVAILABLE'],
    handle: async ({ params, body }) => jsonReply(200, await registry.heartbeat(params.agentId, body)),
  });

const withdrawAgent = (registry: AgentDesk): Endpoint =>
  endpoint({
    method: 'delete',
    path: '/v1/agents/{agentId}',
    operationId: 'withdrawAgent',
    tag: TAG,
    access: (header) => (header('agent-lease') === undefined ? 'operate' : 'register'),
    summary: 'Withdraw an agent',
    description:
      'An agent leaves with its lease in `Agent-Lease` (scope `register`); without the header an operator removes it ' +
      '(scope `operate`). It is never routed to once this answers.',
    params: agentParams,
    headers: [
      { name: 'Agent-Lease', description: 'The newest lease of the agent.', example: 'lease_7m3k0c9w2t5x8b1q' },
    ],
    replies: { 204: { description: 'The agent is withdrawn.' } },
    errors: ['AR_ERR_AGENT_NOT_FOUND', 'AR_ERR_STALE_LEASE', 'AR_ERR_STORE_UNAVAILABLE', 'AR_ERR_STORE_IN_USE'],
    async handle({ params, header }) {
      const lease = header('agent-lease');
      const leaseId = lease === undefined ? null : parseWith(leaseIdField, lease, 'headers.Agent-Lease');
      await registry.withdraw(params.agentId, leaseId);
      return emptyReply(204);
    },
  });
