/** What intents really meant: report it, and as an operator decide on what was reported. */
import type { z } from 'zod';
import type { Feedback, FeedbackPage, FeedbackQuery, feedbackReportSchema } from '../contract/index.ts';
import { everyItem } from './every-item.ts';
import type { ServiceConnection } from './service-connection.ts';

export type FeedbackInput = z.input<typeof feedbackReportSchema>;

export class FeedbackClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  /** Kept until an operator decides; learned only then. */
  report(report: FeedbackInput): Promise<Feedback> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'feedback'], body: report });
  }

  /** One page, newest first. */
  list(query: Partial<FeedbackQuery> = {}): Promise<FeedbackPage> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'feedback'], query });
  }

  all(query: Omit<Partial<FeedbackQuery>, 'cursor'> = {}): AsyncGenerator<Feedback> {
    return everyItem((cursor) => this.list(cursor === undefined ? query : { ...query, cursor }));
  }

  /** The intent becomes an example of the capability. */
  approve(id: string): Promise<Feedback> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'feedback', id, 'approve'] });
  }

  reject(id: string): Promise<Feedback> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'feedback', id, 'reject'] });
  }
}
