/** The rules as a whole: file in, file out, check, and back to an older version. */
import {
  ruleImportReplySchema,
  ruleImportRequestSchema,
  ruleLintSchema,
  ruleRollbackReplySchema,
  ruleRollbackRequestSchema,
} from '../../contract/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { RULE, RULE_FILE, RULE_IMPORT_REPLY, RULE_LINT } from '../examples.ts';
import { RULES_EDIT } from '../if-match.ts';
import { jsonReply } from '../reply.ts';
import type { RuleBook } from '../services.ts';

const TAG = 'rules';
/** The largest set there may be, 4 MiB, with room for what YAML inside of JSON adds. */
const IMPORT_LIMIT_BYTES = 16 * 1024 * 1024;
const YAML_TYPE = 'text/yaml; charset=utf-8';

export function ruleFileEndpoints(rules: RuleBook): Endpoint[] {
  return [importRules(rules), exportRules(rules), lintRules(rules), rollBack(rules)];
}

const importRules = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/rules/import',
    operationId: 'importRules',
    tag: TAG,
    access: 'operate',
    summary: 'Put many rules at once, all or none',
    description:
      'One new rules version. Every flaw of every rule is named in `issues` by its place. The body may hold 16 MiB, or ' +
      '`http.bodyLimitBytes` where that is more; the set that comes of it 10,000 rules and 4 MiB as JSON.',
    headers: [RULES_EDIT.header],
    body: {
      schema: ruleImportRequestSchema,
      example: { rules: [RULE], mode: 'merge', dryRun: true },
      limitBytes: IMPORT_LIMIT_BYTES,
    },
    replies: { 200: { description: 'What changed.', schema: ruleImportReplySchema, example: RULE_IMPORT_REPLY } },
    errors: [
      'AR_ERR_INVALID_RULE',
      'AR_ERR_RULE_CONFLICT',
      'AR_ERR_STORE_UNAVAILABLE',
      'AR_ERR_OVERLOADED',
      'AR_ERR_DEADLINE',
    ],
    async handle({ body, caller, header }) {
      const reply = await rules.importRules(body, RULES_EDIT.editOf(caller.keyId, header));
      return jsonReply(200, reply, { etag: `"${reply.rulesVersion}"` });
    },
  });

const exportRules = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/rules/export',
    operationId: 'exportRules',
    tag: TAG,
    access: 'key',
    summary: 'All rules as a YAML file, which the import takes back exactly',
    replies: { 200: { description: 'The file.', contentType: 'text/yaml', example: RULE_FILE } },
    errors: ['AR_ERR_OVERLOADED', 'AR_ERR_DEADLINE'],
    async handle() {
      const etag = `"${rules.version}"`;
      return { status: 200, body: await rules.exportFile(), contentType: YAML_TYPE, headers: { etag } };
    },
  });

const lintRules = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/rules/lint',
    operationId: 'lintRules',
    tag: TAG,
    access: 'key',
    summary: 'Check the whole set: conflicts, rules never reached, unknown capabilities, broad patterns',
    replies: { 200: { description: 'What is worth a look.', schema: ruleLintSchema, example: RULE_LINT } },
    errors: [],
    handle: async () => jsonReply(200, await rules.lint()),
  });

const rollBack = (rules: RuleBook): Endpoint =>
  endpoint({
    method: 'post',
    path: '/v1/rules/rollback',
    operationId: 'rollBackRules',
    tag: TAG,
    access: 'operate',
    summary: 'Make the rules of an older version the newest ones',
    description: 'The rollback is itself a new version, so it can be rolled back too.',
    headers: [RULES_EDIT.header],
    body: { schema: ruleRollbackRequestSchema, example: { version: 6 } },
    replies: {
      200: { description: 'In force.', schema: ruleRollbackReplySchema, example: { rulesVersion: 8, rules: 12 } },
    },
    errors: ['AR_ERR_RULE_NOT_FOUND', 'AR_ERR_RULE_CONFLICT', 'AR_ERR_STORE_UNAVAILABLE'],
    async handle({ body, caller, header }) {
      const rulesVersion = await rules.rollback(body.version, RULES_EDIT.editOf(caller.keyId, header));
      const { length } = await rules.list();
      return jsonReply(200, { rulesVersion, rules: length }, { etag: `"${rulesVersion}"` });
    },
  });
