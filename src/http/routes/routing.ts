/** The question the service is for: who can do this, right now? */
import {
  routeBatchReplySchema,
  routeBatchRequestSchema,
  routeReplySchema,
  routeRequestSchema,
} from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { MULTI_INTENT_REPLY, ROUTE_BATCH, ROUTE_REPLY, ROUTE_REQUEST } from '../examples.ts';
import type { RecentIntents } from '../recent-intents.ts';
import { jsonReply } from '../reply.ts';
import type { HttpServices } from '../services.ts';

const TAG = 'routing';

export function routingEndpoints(routing: HttpServices['routing'], recent: RecentIntents): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/v1/route',
      operationId: 'routeIntent',
      tag: TAG,
      access: 'route',
      summary: 'Route an intent, or an exact capability, to one agent',
      description:
        'Every decision is a 200: `route`, `queue` (all are busy; see retryAfterMs), `no_match` (see reason) or ' +
        '`multi_intent`: the request holds several intents, each with its own decision and agent in `intents`. What it ' +
        'asks not to be done is never answered (reason `negated` where nothing else is asked).',
      body: { schema: routeRequestSchema, example: ROUTE_REQUEST },
      replies: { 200: { description: 'The decision.', schema: routeReplySchema, example: ROUTE_REPLY } },
      errors: ['AR_ERR_INVALID_INTENT', 'AR_ERR_INVALID_CAPABILITY', 'AR_ERR_OVERLOADED'],
      async handle({ body, caller }) {
        const reply = await routing.route(body, caller);
        recent.note(body, reply, caller);
        return jsonReply(200, reply);
      },
    }),
    endpoint({
      method: 'post',
      path: '/v1/route/batch',
      operationId: 'routeBatch',
      tag: TAG,
      access: 'route',
      summary: 'Route up to 256 intents together',
      description:
        'Results come in the order of the requests. One bad request fails the batch and is named in `issues`.',
      body: { schema: routeBatchRequestSchema, example: ROUTE_BATCH },
      replies: {
        200: {
          description: 'One decision a request.',
          schema: routeBatchReplySchema,
          example: { requestId: 'req_8k2m1', results: [ROUTE_REPLY, MULTI_INTENT_REPLY] },
        },
      },
      errors: ['AR_ERR_INVALID_INTENT', 'AR_ERR_INVALID_CAPABILITY', 'AR_ERR_OVERLOADED'],
      async handle({ body, caller }) {
        const results = await routing.routeBatch(body.requests, caller);
        for (const [i, reply] of results.entries()) {
          const request = body.requests[i];
          if (request !== undefined) recent.note(request, reply, caller);
        }
        return jsonReply(200, { requestId: caller.requestId, results });
      },
    }),
  ];
}
