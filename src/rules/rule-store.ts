import type { Rule } from '../contract/index.ts';

/** The whole rule set after one edit, with who made it. Versions rise by one. */
export interface RuleSetVersion {
  readonly version: number;
  readonly rules: readonly Rule[];
  /** Epoch milliseconds. */
  readonly editedAt: number;
  readonly editedBy: string;
  /** `put invoice`, `delete invoice`, `import 12 rules`, `rollback to 7`. */
  readonly change: string;
}

/** Where rule sets outlive the process. Error: AR_ERR_STORE_UNAVAILABLE; nothing was stored then. */
export interface RuleStore {
  /** The newest set, or undefined before the first edit. */
  load(): Promise<RuleSetVersion | undefined>;
  /** Durable when resolved. */
  save(version: RuleSetVersion): Promise<void>;
  /** Newest first, at most `limit`. */
  history(limit: number): Promise<RuleSetVersion[]>;
}
