/** The golden set: lines of text that every index version must answer right. */
import { z } from 'zod';
import { goldenIdField, goldenListSchema, goldenPutReplySchema, goldenPutSchema } from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { GOLDEN_LINE } from '../examples.ts';
import { emptyReply, jsonReply } from '../reply.ts';
import type { HttpServices } from '../services.ts';

const TAG = 'index';

export function goldenEndpoints(golden: HttpServices['golden']): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/index/golden',
      operationId: 'listGoldenLines',
      tag: TAG,
      access: 'key',
      summary: 'List the golden set',
      replies: {
        200: { description: 'All lines, by id.', schema: goldenListSchema, example: { items: [GOLDEN_LINE] } },
      },
      errors: [],
      handle: () => jsonReply(200, { items: golden.list() }),
    }),
    endpoint({
      method: 'post',
      path: '/v1/index/golden',
      operationId: 'putGoldenLines',
      tag: TAG,
      access: 'operate',
      summary: 'Add or replace golden lines, one or `{lines: [...]}`',
      description:
        'A rebuild that would answer one of them wrong, though the serving version answers it right, is refused. ' +
        '`capability: null` asks for no match. All or nothing; at most 1,000 lines in all.',
      body: { schema: goldenPutSchema, example: { text: GOLDEN_LINE.text, capability: GOLDEN_LINE.capability } },
      replies: {
        200: {
          description: 'The lines as stored.',
          schema: goldenPutReplySchema,
          example: { added: 1, updated: 0, items: [GOLDEN_LINE] },
        },
      },
      errors: ['AR_ERR_INVALID_INTENT', 'AR_ERR_INVALID_CAPABILITY', 'AR_ERR_STORE_UNAVAILABLE'],
      handle: async ({ body }) => jsonReply(200, await golden.put('lines' in body ? body.lines : [body])),
    }),
    endpoint({
      method: 'delete',
      path: '/v1/index/golden/{id}',
      operationId: 'deleteGoldenLine',
      tag: TAG,
      access: 'operate',
      summary: 'Delete a golden line',
      params: z.strictObject({ id: goldenIdField }),
      replies: { 204: { description: 'It is gone.' } },
      errors: ['AR_ERR_NOT_FOUND', 'AR_ERR_STORE_UNAVAILABLE'],
      async handle({ params }) {
        await golden.remove(params.id);
        return emptyReply(204);
      },
    }),
  ];
}
