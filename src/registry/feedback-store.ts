import type { Feedback } from '../contract/index.ts';

/** As stored: times are epoch milliseconds. */
export interface FeedbackRecord extends Omit<Feedback, 'createdAt' | 'decidedAt'> {
  readonly createdAt: number;
  readonly decidedAt: number | null;
}

export interface FeedbackChange {
  readonly put?: readonly FeedbackRecord[];
  readonly remove?: readonly string[];
}

/**
 * Where feedback outlives the process. Error: AR_ERR_STORE_UNAVAILABLE; nothing was stored then, or all of it where the
 * answer was lost on the way: a report made again counts twice.
 */
export interface FeedbackStore {
  load(): Promise<FeedbackRecord[]>;
  /** All or nothing, durable when resolved. */
  commit(change: FeedbackChange): Promise<void>;
}
