/** Exact rules, edited under one version number: `ETag` gives it, `If-Match` guards an edit with it. */
import { z } from 'zod';
import {
  dryRunReplySchema,
  dryRunRequestSchema,
  queryCount,
  ruleHistorySchema,
  ruleIdField,
  ruleListSchema,
  ruleReplySchema,
  ruleSchema,
} from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { DRY_RUN_REPLY, RULE, RULE_HISTORY } from '../examples.ts';
import { RULES_EDIT } from '../if-match.ts';
import { emptyReply, jsonReply } from '../reply.ts';
import type { RuleBook } from '../services.ts';
import { ruleFileEndpoints } from './rule-files.ts';

const TAG = 'rules';
const ruleParams = z.strictObject({ id: ruleIdField });
const historyQuery = z.strictObject({ limit: queryCount(1, 100).default(20) });

export function ruleEndpoints(rules: RuleBook): Endpoint[] {
  return [
    putRule(rules),
    listRules(rules),
    readHistory(rules),
    dryRun(rules),
    readRule(rules),
    deleteRule(rules),
    ...ruleFileEndpoints(rules),
  ];
}

const putRule = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/rules',
    operationId: 'putRule',
    tag: TAG,
    access: 'operate',
    summary: 'Create a rule, or replace the one with this id',
    headers: [RULES_EDIT.header],
    body: { schema: ruleSchema, example: RULE },
    replies: {
      201: {
        description: 'The rule is new.',
        schema: ruleReplySchema,
        example: { rule: RULE, rulesVersion: 1, warnings: [] },
      },
      200: {
        description: 'The rule is replaced.',
        schema: ruleReplySchema,
        example: { rule: RULE, rulesVersion: 2, warnings: [] },
      },
    },
    errors: ['AR_ERR_INVALID_RULE', 'AR_ERR_INVALID_CAPABILITY', 'AR_ERR_RULE_CONFLICT', 'AR_ERR_STORE_UNAVAILABLE'],
    async handle({ body, caller, header }) {
      const { created, rule, rulesVersion, warnings } = await rules.put(body, RULES_EDIT.editOf(caller.keyId, header));
      return jsonReply(created ? 201 : 200, { rule, rulesVersion, warnings }, { etag: `"${rulesVersion}"` });
    },
  });

const listRules = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/rules',
    operationId: 'listRules',
    tag: TAG,
    access: 'key',
    summary: 'List the rules in the order tried',
    replies: {
      200: { description: 'All of them.', schema: ruleListSchema, example: { rulesVersion: 1, items: [RULE] } },
    },
    errors: [],
    async handle() {
      const rulesVersion = rules.version;
      return jsonReply(200, { rulesVersion, items: await rules.list() }, { etag: `"${rulesVersion}"` });
    },
  });

const readHistory = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/rules/history',
    operationId: 'readRuleHistory',
    tag: TAG,
    access: 'key',
    summary: 'List past edits, newest first',
    query: historyQuery,
    replies: { 200: { description: 'The newest edits.', schema: ruleHistorySchema, example: RULE_HISTORY } },
    errors: ['AR_ERR_STORE_UNAVAILABLE'],
    async handle({ query }) {
      const edits = await rules.history(query.limit);
      const items = edits.map(({ version, editedAt, editedBy, change, ruleCount }) => ({
        version,
        editedAt: new Date(editedAt).toISOString(),
        editedBy,
        change,
        rules: ruleCount,
      }));
      return jsonReply(200, { rulesVersion: rules.version, items });
    },
  });

const dryRun = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/rules/dry-run',
    operationId: 'dryRunRules',
    tag: TAG,
    access: 'key',
    summary: 'See what the rules say of an intent, without routing it',
    body: { schema: dryRunRequestSchema, example: { intent: '我需要开发票' } },
    replies: { 200: { description: 'Each rule, as tried.', schema: dryRunReplySchema, example: DRY_RUN_REPLY } },
    errors: ['AR_ERR_INVALID_INTENT'],
    handle: async ({ body }) => jsonReply(200, await rules.dryRun(body.intent, body.namespace)),
  });

const readRule = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/rules/{id}',
    operationId: 'readRule',
    tag: TAG,
    access: 'key',
    summary: 'Read one rule',
    params: ruleParams,
    replies: { 200: { description: 'The rule.', schema: ruleSchema, example: RULE } },
    errors: ['AR_ERR_RULE_NOT_FOUND'],
    async handle({ params }) {
      const etag = `"${rules.version}"`;
      return jsonReply(200, await rules.get(params.id), { etag });
    },
  });

const deleteRule = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'delete',
    path: '/v1/rules/{id}',
    operationId: 'deleteRule',
    tag: TAG,
    access: 'operate',
    summary: 'Delete a rule',
    params: ruleParams,
    headers: [RULES_EDIT.header],
    replies: { 204: { description: 'The rule is deleted.' } },
    errors: ['AR_ERR_RULE_NOT_FOUND', 'AR_ERR_RULE_CONFLICT', 'AR_ERR_STORE_UNAVAILABLE'],
    async handle({ params, caller, header }) {
      const rulesVersion = await rules.remove(params.id, RULES_EDIT.editOf(caller.keyId, header));
      return { ...emptyReply(204), headers: { etag: `"${rulesVersion}"` } };
    },
  });
