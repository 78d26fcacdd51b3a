/** The exact rules. Every edit makes a new rules version. */
import type { z } from 'zod';
import type { DryRunReply, Rule, RuleHistory, RuleList, RuleReply, ruleSchema } from '../contract/index.ts';
import type { ServiceConnection } from './service-connection.ts';

export type RuleInput = z.input<typeof ruleSchema>;

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

  /** What the rules alone would do with an intent; changes nothing. */
  dryRun(intent: string): Promise<DryRunReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'rules', 'dry-run'], body: { intent } });
  }
}
