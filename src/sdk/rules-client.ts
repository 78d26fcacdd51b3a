/** The exact rules. Every edit makes a new rules version. */
import type { z } from 'zod';
import type {
  DryRunReply,
  Rule,
  RuleHistory,
  RuleImportReply,
  RuleLint,
  RuleList,
  RuleReply,
  RuleRollbackReply,
  ruleImportRequestSchema,
  ruleSchema,
} from '../contract/index.ts';
import type { ServiceConnection } from './service-connection.ts';

export type RuleInput = z.input<typeof ruleSchema>;

export type RuleImportInput = z.input<typeof ruleImportRequestSchema>;

export interface RuleEditOptions {
  /** The rules version that the edit is based on; another one now: AR_ERR_RULE_CONFLICT. */
  readonly expectedVersion?: number | undefined;
}

const ifMatch = ({ expectedVersion }: RuleEditOptions) =>
  expectedVersion === undefined ? {} : { headers: { 'if-match': `"${expectedVersion}"` } };

export class RulesClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  list(): Promise<RuleList> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'rules'] });
  }

  get(id: string): Promise<Rule> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'rules', id] });
  }

  /** Creates the rule, or replaces the one with its id. */
  put(rule: RuleInput, options: RuleEditOptions = {}): Promise<RuleReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'rules'], body: rule, ...ifMatch(options) });
  }

  remove(id: string, options: RuleEditOptions = {}): Promise<void> {
    return this.#connection.call({ method: 'DELETE', path: ['v1', 'rules', id], ...ifMatch(options) });
  }

  history(limit?: number): Promise<RuleHistory> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'rules', 'history'], query: { limit } });
  }

  /** Makes the rules of an older version the newest ones. */
  rollback(version: number, options: RuleEditOptions = {}): Promise<RuleRollbackReply> {
    const path = ['v1', 'rules', 'rollback'];
    return this.#connection.call({ method: 'POST', path, body: { version }, ...ifMatch(options) });
  }

  /** All rules or none; with `dryRun` it only says what would change. */
  import(request: RuleImportInput, options: RuleEditOptions = {}): Promise<RuleImportReply> {
    return this.#connection.call({
      method: 'POST',
      path: ['v1', 'rules', 'import'],
      body: request,
      ...ifMatch(options),
    });
  }

  /** All rules as a YAML file. */
  export(): Promise<string> {
    return this.#connection.text({ method: 'GET', path: ['v1', 'rules', 'export'] }, 'text/yaml');
  }

  /** What is worth a look in the whole set. */
  lint(): Promise<RuleLint> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'rules', 'lint'] });
  }

  /** What the rules alone would do with an intent; changes nothing. */
  dryRun(intent: string, namespace?: string): Promise<DryRunReply> {
    const body = namespace === undefined ? { intent } : { intent, namespace };
    return this.#connection.call({ method: 'POST', path: ['v1', 'rules', 'dry-run'], body });
  }
}
