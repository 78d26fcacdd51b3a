import type { Rule } from '../contract/index.ts';

/** One edit: who made it, when, and how many rules there were after it. */
export interface RuleEditRecord {
  readonly version: number;
  /** Epoch milliseconds. */
  readonly editedAt: number;
  readonly editedBy: string;
  /** `put invoice`, `delete invoice`, `import 12 rules`, `rollback to 7`. */
  readonly change: string;
  readonly ruleCount: number;
}

/** The whole rule set after one edit. Versions rise by one. */
export interface RuleSetVersion extends Omit<RuleEditRecord, 'ruleCount'> {
  readonly rules: readonly Rule[];
}

/**
 * Where rule sets outlive the process. Error: AR_ERR_STORE_UNAVAILABLE; nothing was stored then, or all of it where the
 * answer was lost on the way: the same edit made again changes nothing, or finds that the rules have changed.
 */
export interface RuleStore {
  /** The newest set, or undefined before the first edit. */
  load(): Promise<RuleSetVersion | undefined>;
  /** Durable when resolved. */
  save(version: RuleSetVersion): Promise<void>;
  /** One set of the history; undefined where it is not there or cannot be read. */
  read(version: number): Promise<RuleSetVersion | undefined>;
  /** Edits from version `newest` down, at most `limit`. Costs no reading of sets. */
  history(newest: number, limit: number): Promise<RuleEditRecord[]>;
}
