/** Index versions, and building the next one. */
import {
  indexVersionListSchema,
  type RebuildReply,
  rebuildReplySchema,
  rebuildRequestSchema,
} from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { EVENT_STREAM_TYPE, eventStream, type FinalEvent } from '../event-stream.ts';
import { INDEX_VERSION, REBUILD_EVENTS } from '../examples.ts';
import { problemBody } from '../problem-response.ts';
import { jsonReply, type Reply } from '../reply.ts';
import type { HttpCaller, HttpServices } from '../services.ts';

type IndexDesk = HttpServices['index'];

const TAG = 'index';
const REBUILD_PATH = '/v1/index/rebuild';
const STREAM_TYPE = 'text/event-stream';

export function indexEndpoints(index: IndexDesk): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/index/versions',
      operationId: 'listIndexVersions',
      tag: TAG,
      access: 'key',
      summary: 'List index versions, newest first',
      replies: {
        200: {
          description: 'The kept versions.',
          schema: indexVersionListSchema,
          example: { current: 'v000002', delta: 0, items: [INDEX_VERSION] },
        },
      },
      errors: ['AR_ERR_STORE_UNAVAILABLE'],
      handle: async () => jsonReply(200, await index.versions()),
    }),
    endpoint({
      method: 'post',
      path: REBUILD_PATH,
      operationId: 'rebuildIndex',
      tag: TAG,
      access: 'operate',
      summary: 'Build the next index version and switch to it',
      description:
        'Answers when the new version serves; routing goes on meanwhile. With `Accept: text/event-stream` the answer ' +
        'is a stream: `progress` events, then one `done` with the reply below or one `error` with a problem.',
      body: { schema: rebuildRequestSchema, example: { reason: 'after an import' }, emptyValue: {} },
      replies: {
        200: {
          description: 'The new version.',
          schema: rebuildReplySchema,
          example: { version: 'v000002', report: INDEX_VERSION },
          stream: { contentType: STREAM_TYPE, example: REBUILD_EVENTS },
        },
      },
      errors: ['AR_ERR_INDEX_SELF_CHECK', 'AR_ERR_MODEL_UNUSABLE', 'AR_ERR_STORE_UNAVAILABLE'],
      async handle({ body, caller, header }) {
        const request = { by: caller.keyId, why: body.reason ?? 'asked over the API' };
        if (wantsStream(header('accept'))) return streamReply(index, request, caller);
        return jsonReply(200, await rebuild(index, request));
      },
    }),
  ];
}

type RebuildRequest = Parameters<IndexDesk['rebuild']>[0];

async function rebuild(index: IndexDesk, request: RebuildRequest): Promise<RebuildReply> {
  const report = await index.rebuild(request);
  return { version: report.id, report };
}

function wantsStream(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes(STREAM_TYPE) ?? false;
}

function streamReply(index: IndexDesk, request: RebuildRequest, caller: HttpCaller): Reply {
  const body = eventStream(async (report): Promise<FinalEvent> => {
    try {
      const onProgress = (progress: object): void => report('progress', progress);
      return { event: 'done', data: await rebuild(index, { ...request, onProgress }) };
    } catch (error) {
      return { event: 'error', data: problemBody(error, { requestId: caller.requestId, route: REBUILD_PATH }) };
    }
  });
  // Proxies must pass each event on as it comes.
  return {
    status: 200,
    body,
    contentType: EVENT_STREAM_TYPE,
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  };
}
