/** Decisions about sensitive capabilities, newest first. Needs the scope `operate`. */
import type { z } from 'zod';
import type { AuditPage, AuditRecord, listAuditQuerySchema } from '../contract/index.ts';
import { everyItem } from './every-item.ts';
import type { ServiceConnection } from './service-connection.ts';

export type AuditQuery = Partial<Omit<z.output<typeof listAuditQuerySchema>, 'cursor'>>;

export class AuditClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  /** One page; it may hold fewer than asked for while there is a cursor. */
  list(query: AuditQuery = {}, cursor?: string): Promise<AuditPage> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'audit'], query: { ...query, cursor } });
  }

  all(query: AuditQuery = {}): AsyncGenerator<AuditRecord> {
    return everyItem((cursor) => this.list(query, cursor));
  }
}
