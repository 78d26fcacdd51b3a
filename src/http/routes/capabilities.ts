/** The dictionary of capability names, and an operator's word on one of them. */
import { z } from 'zod';
import {
  capabilityNameField,
  capabilityPageSchema,
  capabilityUpdateSchema,
  capabilityViewSchema,
  listCapabilitiesQuerySchema,
  namespaceField,
} from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { CAPABILITY_VIEW } from '../examples.ts';
import { jsonReply } from '../reply.ts';
import type { CapabilityDirectory } from '../services.ts';

const TAG = 'capabilities';
const nameParams = z.strictObject({ name: capabilityNameField });
const namespaceQuery = z.strictObject({ namespace: namespaceField.default('default') });

export function capabilityEndpoints(directory: CapabilityDirectory): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/capabilities',
      operationId: 'listCapabilities',
      tag: TAG,
      access: 'key',
      summary: 'List capability names',
      query: listCapabilitiesQuerySchema,
      replies: {
        200: {
          description: 'One page, by name.',
          schema: capabilityPageSchema,
          example: { items: [CAPABILITY_VIEW], nextCursor: null },
        },
      },
      errors: ['AR_ERR_INVALID_CURSOR'],
      handle: async ({ query }) => jsonReply(200, await directory.capabilities(query)),
    }),
    endpoint({
      method: 'get',
      path: '/v1/capabilities/{name}',
      operationId: 'readCapability',
      tag: TAG,
      access: 'key',
      summary: 'Read one capability name',
      params: nameParams,
      query: namespaceQuery,
      replies: {
        200: { description: 'What is known of it.', schema: capabilityViewSchema, example: CAPABILITY_VIEW },
      },
      errors: ['AR_ERR_CAPABILITY_NOT_FOUND', 'AR_ERR_INVALID_CAPABILITY'],
      handle: async ({ params, query }) => jsonReply(200, await directory.capability(query.namespace, params.name)),
    }),
    endpoint({
      method: 'patch',
      path: '/v1/capabilities/{name}',
      operationId: 'updateCapability',
      tag: TAG,
      access: 'operate',
      summary: 'Approve, deprecate or describe a capability name',
      params: nameParams,
      query: namespaceQuery,
      body: { schema: capabilityUpdateSchema, example: { status: 'active' } },
      replies: { 200: { description: 'As it is now.', schema: capabilityViewSchema, example: CAPABILITY_VIEW } },
      errors: [
        'AR_ERR_CAPABILITY_NOT_FOUND',
        'AR_ERR_INVALID_CAPABILITY',
        'AR_ERR_STORE_UNAVAILABLE',
        'AR_ERR_STORE_IN_USE',
      ],
      handle: async ({ params, query, body }) =>
        jsonReply(200, await directory.updateCapability(query.namespace, params.name, body)),
    }),
  ];
}
