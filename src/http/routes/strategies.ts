/** The strategies in force: `ETag` gives their version, `If-Match` guards an edit with it. */
import {
  type StrategiesReply,
  strategiesBodySchema,
  strategiesReloadReplySchema,
  strategiesReplySchema,
} from '../../contract/index.ts';
import type { StrategyService } from '../../routing/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { STRATEGIES_DOCUMENT, STRATEGIES_RELOAD_REPLY, STRATEGIES_REPLY } from '../examples.ts';
import { editGuard } from '../if-match.ts';
import { jsonReply, type Reply } from '../reply.ts';

const TAG = 'strategies';

const EDIT = editGuard({
  of: 'strategiesVersion',
  example: '3f9a1c0b7d24',
  form: /[0-9a-f]{1,64}/,
  read: (text) => text,
});

export function strategyEndpoints(strategies: StrategyService): Endpoint[] {
  return [showStrategies(strategies), putStrategies(strategies), removeStrategies(strategies), reload(strategies)];
}

const showStrategies = (strategies: StrategyService): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/strategies',
    operationId: 'showStrategies',
    tag: TAG,
    access: 'key',
    summary: 'Show the strategies in force, where they come from, and every strategy there is',
    replies: { 200: { description: 'In force now.', schema: strategiesReplySchema, example: STRATEGIES_REPLY } },
    errors: [],
    handle: () => tagged(strategies.show()),
  });

const putStrategies = (strategies: StrategyService): Endpoint =>
  endpoint({
    method: 'put',
    path: '/v1/strategies',
    operationId: 'putStrategies',
    tag: TAG,
    access: 'operate',
    summary: 'Put a strategies document in force, over that of the file',
    description:
      'Checked as a whole, stored, and in force for the next route; survives a restart. The file stays shadowed, ' +
      'whatever it says, until the document is deleted.',
    headers: [EDIT.header],
    body: { schema: strategiesBodySchema, example: STRATEGIES_DOCUMENT },
    replies: { 200: { description: 'In force now.', schema: strategiesReplySchema, example: STRATEGIES_REPLY } },
    errors: ['AR_ERR_INVALID_STRATEGIES', 'AR_ERR_STRATEGIES_CONFLICT', 'AR_ERR_STORE_UNAVAILABLE'],
    handle: async ({ body, caller, header }) => tagged(await strategies.put(body, EDIT.editOf(caller.keyId, header))),
  });

const removeStrategies = (strategies: StrategyService): Endpoint =>
  endpoint({
    method: 'delete',
    path: '/v1/strategies',
    operationId: 'deleteStrategies',
    tag: TAG,
    access: 'operate',
    summary: 'Take away what was put, so that the file, else the config, is in force',
    headers: [EDIT.header],
    replies: { 200: { description: 'In force now.', schema: strategiesReplySchema, example: STRATEGIES_REPLY } },
    errors: ['AR_ERR_STRATEGIES_CONFLICT', 'AR_ERR_STORE_UNAVAILABLE'],
    handle: async ({ caller, header }) => tagged(await strategies.remove(EDIT.editOf(caller.keyId, header))),
  });

const reload = (strategies: StrategyService): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/strategies/reload',
    operationId: 'reloadStrategies',
    tag: TAG,
    access: 'operate',
    summary: 'Read the strategies file again',
    description: 'A file that cannot be used changes nothing; the problem names each flaw with its place and line.',
    replies: {
      200: {
        description: 'What became of the file, and what is in force now.',
        schema: strategiesReloadReplySchema,
        example: STRATEGIES_RELOAD_REPLY,
      },
    },
    errors: ['AR_ERR_NOT_FOUND', 'AR_ERR_INVALID_STRATEGIES'],
    async handle() {
      const result = await strategies.reload('asked');
      const reply = { ...strategies.show(), result };
      return tagged(reply);
    },
  });

function tagged(reply: StrategiesReply): Reply {
  return jsonReply(200, reply, { etag: `"${reply.strategiesVersion}"` });
}
