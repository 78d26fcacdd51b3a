/** What an intent really meant: reported by callers, decided by operators, learned only then. */
import { z } from 'zod';
import {
  type FeedbackReport,
  feedbackIdField,
  feedbackPageSchema,
  feedbackReportSchema,
  feedbackSchema,
  listFeedbackQuerySchema,
} from '../../contract/index.ts';
import { AgentReachError } from '../../core/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { FEEDBACK, FEEDBACK_REPORT } from '../examples.ts';
import type { RecentIntents } from '../recent-intents.ts';
import { jsonReply } from '../reply.ts';
import type { FeedbackDesk, HttpCaller } from '../services.ts';

const TAG = 'feedback';
const idParams = z.strictObject({ id: feedbackIdField });

export function feedbackEndpoints(desk: FeedbackDesk, recent: RecentIntents): Endpoint[] {
  return [reportFeedback(desk, recent), listFeedback(desk), approveFeedback(desk), rejectFeedback(desk)];
}

const reportFeedback = (desk: FeedbackDesk, recent: RecentIntents): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/feedback',
    operationId: 'reportFeedback',
    tag: TAG,
    access: 'route',
    summary: 'Say what an intent really meant',
    description:
      'Kept until an operator approves or rejects it; nothing is learned before. `requestId` alone is enough for an ' +
      'hour after the route. The same word again counts with the first.',
    body: { schema: feedbackReportSchema, example: FEEDBACK_REPORT },
    replies: {
      201: { description: 'Filed.', schema: feedbackSchema, example: FEEDBACK },
      200: { description: 'Counted with a pending one.', schema: feedbackSchema, example: { ...FEEDBACK, reports: 2 } },
    },
    errors: [
      'AR_ERR_INVALID_INTENT',
      'AR_ERR_INVALID_CAPABILITY',
      'AR_ERR_CAPABILITY_NOT_FOUND',
      'AR_ERR_OVERLOADED',
      'AR_ERR_STORE_UNAVAILABLE',
    ],
    async handle({ body, caller }) {
      const { feedback, created } = await desk.report(knownReport(body, recent, caller), caller.keyId);
      return jsonReply(created ? 201 : 200, feedback);
    },
  });

/** The words of the report itself win over what is remembered of the request. */
function knownReport(body: FeedbackReport, recent: RecentIntents, caller: HttpCaller) {
  const asked = body.requestId === undefined ? undefined : recent.find(body.requestId, caller);
  const intent = body.intent ?? asked?.intent;
  if (intent === undefined) {
    const message = 'is not among the requests of this key that are remembered; give the intent';
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
      detail: `requestId: ${message}`,
      issues: [{ path: 'requestId', message }],
    });
  }
  return {
    intent,
    namespace: body.namespace ?? asked?.namespace ?? 'default',
    correct: body.correct,
    answered: asked?.answered ?? null,
    requestId: body.requestId ?? null,
  };
}

const listFeedback = (desk: FeedbackDesk): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/feedback',
    operationId: 'listFeedback',
    tag: TAG,
    access: 'operate',
    summary: 'List feedback, newest first',
    query: listFeedbackQuerySchema,
    replies: {
      200: {
        description: 'One page.',
        schema: feedbackPageSchema,
        example: { items: [FEEDBACK], nextCursor: null, pending: 1 },
      },
    },
    errors: ['AR_ERR_INVALID_CURSOR'],
    handle: async ({ query }) => jsonReply(200, await desk.list(query)),
  });

const APPROVED = {
  ...FEEDBACK,
  status: 'approved',
  decidedAt: '2026-01-01T00:05:00.000Z',
  decidedBy: 'ops',
  effect: 'example_added',
} as const;

const approveFeedback = (desk: FeedbackDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/feedback/{id}/approve',
    operationId: 'approveFeedback',
    tag: TAG,
    access: 'operate',
    summary: 'Make the intent an example of the capability',
    description: 'Routes find it when this is answered. `PATCH /v1/capabilities/{name}` with `examples` takes it back.',
    params: idParams,
    replies: { 200: { description: 'As it is now.', schema: feedbackSchema, example: APPROVED } },
    errors: [
      'AR_ERR_FEEDBACK_NOT_FOUND',
      'AR_ERR_FEEDBACK_DECIDED',
      'AR_ERR_CAPABILITY_NOT_FOUND',
      'AR_ERR_CAPABILITY_DEPRECATED',
      'AR_ERR_STORE_UNAVAILABLE',
    ],
    handle: async ({ params, caller }) => jsonReply(200, await desk.approve(params.id, caller.keyId)),
  });

const rejectFeedback = (desk: FeedbackDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/feedback/{id}/reject',
    operationId: 'rejectFeedback',
    tag: TAG,
    access: 'operate',
    summary: 'Set the feedback aside',
    params: idParams,
    replies: {
      200: {
        description: 'As it is now.',
        schema: feedbackSchema,
        example: { ...APPROVED, status: 'rejected', effect: 'none' },
      },
    },
    errors: ['AR_ERR_FEEDBACK_NOT_FOUND', 'AR_ERR_FEEDBACK_DECIDED', 'AR_ERR_STORE_UNAVAILABLE'],
    handle: async ({ params, caller }) => jsonReply(200, await desk.reject(params.id, caller.keyId)),
  });
