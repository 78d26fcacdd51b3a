/** Index versions: building the next one, going back to one, verifying and comparing them. */
import {
  diffQuerySchema,
  indexDiffSchema,
  indexVersionListSchema,
  type RebuildProgress,
  type RebuildReply,
  rebuildReplySchema,
  rebuildRequestSchema,
  rollbackReplySchema,
  rollbackRequestSchema,
  verifyReplySchema,
  verifyRequestSchema,
} from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { EVENT_STREAM_TYPE, eventStream, type FinalEvent } from '../event-stream.ts';
import {
  INDEX_DIFF,
  INDEX_HELD,
  INDEX_INSTANCE,
  INDEX_VERSION,
  REBUILD_EVENTS,
  VERIFY_EVENTS,
  VERIFY_REPLY,
} from '../examples.ts';
import { problemBody } from '../problem-response.ts';
import { jsonReply, type Reply } from '../reply.ts';
import type { HttpCaller, HttpServices } from '../services.ts';

type IndexDesk = HttpServices['index'];

const TAG = 'index';
const REBUILD_PATH = '/v1/index/rebuild';
const VERIFY_PATH = '/v1/index/verify';
const STREAM_TYPE = 'text/event-stream';
const STREAM_TEXT =
  'With `Accept: text/event-stream` the answer is a stream: `progress` events, then one `done` with the reply below ' +
  'or one `error` with a problem.';

export function indexEndpoints(index: IndexDesk): Endpoint[] {
  return [listVersions(index), rebuildIndex(index), rollbackIndex(index), verifyIndex(index), diffVersions(index)];
}

const listVersions = (index: IndexDesk): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/index/versions',
    operationId: 'listIndexVersions',
    tag: TAG,
    access: 'key',
    summary: 'List index versions, newest first',
    replies: {
      200: {
        description:
          'The kept versions, the folders that cannot be served, and the last version that could not be put to work. ' +
          'Where several instances share the store: the versions of all, and which instances run.',
        schema: indexVersionListSchema,
        example: {
          current: 'v000002',
          delta: 0,
          items: [INDEX_VERSION],
          refused: [],
          held: null,
          lastFailure: null,
          instances: [INDEX_INSTANCE],
        },
      },
    },
    errors: ['AR_ERR_STORE_UNAVAILABLE'],
    handle: async () => jsonReply(200, await index.versions()),
  });

const rebuildIndex = (index: IndexDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: REBUILD_PATH,
    operationId: 'rebuildIndex',
    tag: TAG,
    access: 'operate',
    summary: 'Build the next index version and switch to it',
    description:
      'Answers when the new version serves; routing goes on meanwhile. A version that fails its self-check is ' +
      `forgotten, and the problem names the lines that failed. Ends a rollback. Of several instances one builds for all; ` +
      `a call while it does answers with that version. ${STREAM_TEXT}`,
    body: { schema: rebuildRequestSchema, example: { reason: 'after an import' }, emptyValue: {} },
    replies: {
      200: {
        description: 'The new version.',
        schema: rebuildReplySchema,
        example: { version: 'v000002', report: INDEX_VERSION },
        stream: { contentType: STREAM_TYPE, example: REBUILD_EVENTS },
      },
    },
    errors: [
      'AR_ERR_INDEX_SELF_CHECK',
      'AR_ERR_INDEX_OVERTAKEN',
      'AR_ERR_INDEX_CORRUPT',
      'AR_ERR_MODEL_UNUSABLE',
      'AR_ERR_STORE_UNAVAILABLE',
    ],
    handle({ body, caller, header }) {
      const request = { by: caller.keyId, why: body.reason ?? 'asked over the API' };
      return answer(header('accept'), caller, REBUILD_PATH, async (onProgress): Promise<RebuildReply> => {
        const report = await index.rebuild({ ...request, onProgress });
        return { version: report.id, report };
      });
    },
  });

const rollbackIndex = (index: IndexDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/index/rollback',
    operationId: 'rollbackIndex',
    tag: TAG,
    access: 'operate',
    summary: 'Put an earlier index version to work again',
    description:
      'Brings back its vectors and, for every capability that is still registered, the texts it was built from; ' +
      'what agents change from now on counts, `sensitive` is never loosened. Rebuilds by themselves wait until a ' +
      'rebuild is asked for. Survives a restart, and counts for all instances.',
    body: { schema: rollbackRequestSchema, example: { version: 'v000001' } },
    replies: {
      200: {
        description: 'The version that serves now.',
        schema: rollbackReplySchema,
        example: { version: 'v000002', held: INDEX_HELD, restored: 3, report: INDEX_VERSION },
      },
    },
    errors: [
      'AR_ERR_NOT_FOUND',
      'AR_ERR_INDEX_NO_CATALOGUE',
      'AR_ERR_INDEX_OVERTAKEN',
      'AR_ERR_INDEX_CORRUPT',
      'AR_ERR_STORE_UNAVAILABLE',
    ],
    handle: async ({ body, caller }) =>
      jsonReply(200, await index.rollback({ version: body.version, by: caller.keyId })),
  });

const verifyIndex = (index: IndexDesk): Endpoint =>
  endpoint({
    method: 'post',
    path: VERIFY_PATH,
    operationId: 'verifyIndex',
    tag: TAG,
    access: 'operate',
    summary: 'Check an index version on the disk again, the serving one unless named',
    description: `Checksums, model, recall, every text found by itself, and the golden set; changes nothing. ${STREAM_TEXT}`,
    body: { schema: verifyRequestSchema, example: { version: 'v000002' }, emptyValue: {} },
    replies: {
      200: {
        description: 'What was found; `ok: false` with the problems in words where it does not hold.',
        schema: verifyReplySchema,
        example: VERIFY_REPLY,
        stream: { contentType: STREAM_TYPE, example: VERIFY_EVENTS },
      },
    },
    errors: ['AR_ERR_NOT_FOUND', 'AR_ERR_OVERLOADED', 'AR_ERR_STORE_UNAVAILABLE'],
    handle: ({ body, caller, header }) =>
      answer(header('accept'), caller, VERIFY_PATH, (onProgress) =>
        index.verify({ version: body.version, onProgress }),
      ),
  });

const diffVersions = (index: IndexDesk): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/index/diff',
    operationId: 'diffIndexVersions',
    tag: TAG,
    access: 'key',
    summary: 'Compare what two index versions were built from',
    query: diffQuerySchema,
    replies: {
      200: { description: 'Capabilities added, removed, and changed.', schema: indexDiffSchema, example: INDEX_DIFF },
    },
    errors: ['AR_ERR_NOT_FOUND', 'AR_ERR_INDEX_NO_CATALOGUE', 'AR_ERR_INDEX_CORRUPT', 'AR_ERR_STORE_UNAVAILABLE'],
    handle: async ({ query }) => jsonReply(200, await index.diff(query)),
  });

/** One JSON answer, or a stream of progress and the answer, as the caller accepts. */
async function answer(
  accept: string | undefined,
  caller: HttpCaller,
  route: string,
  work: (onProgress: (progress: RebuildProgress) => void) => Promise<object>,
): Promise<Reply> {
  if (accept?.toLowerCase().includes(STREAM_TYPE) !== true) return jsonReply(200, await work(() => {}));
  const body = eventStream(async (report): Promise<FinalEvent> => {
    try {
      return { event: 'done', data: await work((progress) => report('progress', progress)) };
    } catch (error) {
      return { event: 'error', data: problemBody(error, { requestId: caller.requestId, route }) };
    }
  });
  // Proxies must pass each event on as it comes.
  const headers = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return { status: 200, body, contentType: EVENT_STREAM_TYPE, headers };
}
