/** The audit log of sensitive capabilities, read only. */
import { auditPageSchema, listAuditQuerySchema } from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { AUDIT_RECORD } from '../examples.ts';
import { jsonReply } from '../reply.ts';
import type { AuditBook } from '../services.ts';

export function auditEndpoints(audit: AuditBook): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'rules',
      access: 'operate',
      summary: 'Decisions about sensitive capabilities, newest first',
      description: 'A page may hold fewer than asked for: go on while there is a cursor.',
      query: listAuditQuerySchema,
      replies: {
        200: { description: 'A page.', schema: auditPageSchema, example: { items: [AUDIT_RECORD], nextCursor: null } },
      },
      errors: ['AR_ERR_INVALID_CURSOR', 'AR_ERR_STORE_UNAVAILABLE'],
      handle: async ({ query }) => jsonReply(200, await audit.list(query)),
    }),
  ];
}
