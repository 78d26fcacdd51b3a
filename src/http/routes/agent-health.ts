/** What agents, callers and operators say of agents' health: many beats at once, outcomes, cordons and drains. */
import { z } from 'zod';
import {
  agentIdField,
  agentViewSchema,
  cordonRequestSchema,
  drainRequestSchema,
  heartbeatBatchReplySchema,
  heartbeatBatchSchema,
  leaseIdField,
  outcomeReplySchema,
  outcomeReportSchema,
} from '../../contract/index.ts';
import {
  AGENT_VIEW,
  CORDON,
  CORDONED_AGENT,
  DRAIN,
  DRAINING_AGENT,
  HEARTBEAT_BATCH,
  HEARTBEAT_BATCH_REPLY,
  OUTCOME_REPLY,
  OUTCOME_REPORT,
} from '../agent-examples.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { jsonReply } from '../reply.ts';
import { parseWith } from '../schema-issues.ts';
import type { AgentHealthDesk } from '../services.ts';

const TAG = 'agents';
const agentParams = z.strictObject({ agentId: agentIdField });
const COMMAND_ERRORS = ['AR_ERR_AGENT_NOT_FOUND', 'AR_ERR_STORE_UNAVAILABLE', 'AR_ERR_STORE_IN_USE'] as const;

export function agentHealthEndpoints(registry: AgentHealthDesk): Endpoint[] {
  return [
    renewLeases(registry),
    reportOutcome(registry),
    cordonAgent(registry),
    uncordonAgent(registry),
    drainAgent(registry),
    endDrain(registry),
  ];
}

const renewLeases = (registry: AgentHealthDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/heartbeats',
    operationId: 'renewLeases',
    tag: TAG,
    access: 'register',
    summary: 'Up to 1,000 heartbeats at once, for whoever runs many agents',
    description:
      'Results come in the order of the beats. A beat that is refused (`error`) keeps none of the others from ' +
      'counting; one that does not fit the schema refuses the whole request.',
    body: { schema: heartbeatBatchSchema, example: HEARTBEAT_BATCH },
    replies: {
      200: { description: 'One result a beat.', schema: heartbeatBatchReplySchema, example: HEARTBEAT_BATCH_REPLY },
    },
    errors: ['AR_ERR_STORE_UNAVAILABLE'],
    handle: async ({ body }) => jsonReply(200, await registry.heartbeats(body)),
  });

const reportOutcome = (registry: AgentHealthDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/agents/{agentId}/report',
    operationId: 'reportOutcome',
    tag: TAG,
    access: 'route',
    summary: 'Say what became of work given to an agent',
    description:
      'A failure makes the agent suspect: half weight, and its health endpoint is asked at once. Many of them, over ' +
      'three windows of ten seconds, put it aside for a while. Report successes too where calls are many: a window ' +
      'with more successes than failures is a good one.',
    params: agentParams,
    body: { schema: outcomeReportSchema, example: OUTCOME_REPORT },
    replies: {
      200: { description: 'How the agent stands now.', schema: outcomeReplySchema, example: OUTCOME_REPLY },
    },
    errors: ['AR_ERR_AGENT_NOT_FOUND'],
    handle: async ({ params, body }) => jsonReply(200, await registry.report(params.agentId, body)),
  });

const cordonAgent = (registry: AgentHealthDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/agents/{agentId}/cordon',
    operationId: 'cordonAgent',
    tag: TAG,
    access: 'operate',
    summary: 'Fence an agent off: no work until that is lifted',
    description: 'Survives beats, new starts of the agent and restarts of the service.',
    params: agentParams,
    body: { schema: cordonRequestSchema, example: CORDON },
    replies: { 200: { description: 'The fenced agent.', schema: agentViewSchema, example: CORDONED_AGENT } },
    errors: COMMAND_ERRORS,
    handle: async ({ params, body, caller }) =>
      jsonReply(200, await registry.cordon(params.agentId, body, caller.keyId)),
  });

const uncordonAgent = (registry: AgentHealthDesk): Endpoint =>
  endpoint({
    method: 'delete',
    path: '/v1/agents/{agentId}/cordon',
    operationId: 'uncordonAgent',
    tag: TAG,
    access: 'operate',
    summary: 'Lift the fence around an agent',
    params: agentParams,
    replies: { 200: { description: 'The agent, as it stands.', schema: agentViewSchema, example: AGENT_VIEW } },
    errors: COMMAND_ERRORS,
    handle: async ({ params }) => jsonReply(200, await registry.uncordon(params.agentId)),
  });

const drainAgent = (registry: AgentHealthDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/agents/{agentId}/drain',
    operationId: 'drainAgent',
    tag: TAG,
    access: (header) => (header('agent-lease') === undefined ? 'operate' : 'register'),
    summary: 'No new work for an agent, and offline at the deadline',
    description:
      'An agent drains itself with its lease in `Agent-Lease` (scope `register`); without the header an operator does ' +
      '(scope `operate`), and then no beat takes it back. A new start of the agent ends it.',
    params: agentParams,
    headers: [
      { name: 'Agent-Lease', description: 'The newest lease of the agent.', example: 'lease_7m3k0c9w2t5x8b1q' },
    ],
    body: { schema: drainRequestSchema, example: DRAIN, emptyValue: {} },
    replies: { 200: { description: 'The draining agent.', schema: agentViewSchema, example: DRAINING_AGENT } },
    errors: [...COMMAND_ERRORS, 'AR_ERR_STALE_LEASE'],
    async handle({ params, body, caller, header }) {
      const lease = header('agent-lease');
      const leaseId = lease === undefined ? null : parseWith(leaseIdField, lease, 'headers.Agent-Lease');
      return jsonReply(200, await registry.drain(params.agentId, body, leaseId, caller.keyId));
    },
  });

const endDrain = (registry: AgentHealthDesk): Endpoint =>
  endpoint({
    method: 'delete',
    path: '/v1/agents/{agentId}/drain',
    operationId: 'endDrain',
    tag: TAG,
    access: 'operate',
    summary: 'Take a drain back, as long as it is not over',
    params: agentParams,
    replies: { 200: { description: 'The agent, as it stands.', schema: agentViewSchema, example: AGENT_VIEW } },
    errors: COMMAND_ERRORS,
    handle: async ({ params }) => jsonReply(200, await registry.endDrain(params.agentId)),
  });
