/** The dictionary of capability names. */
import type { CapabilityPage, CapabilityUpdate, CapabilityView, ListCapabilitiesQuery } from '../contract/index.ts';
import { everyItem } from './every-item.ts';
import type { ServiceConnection } from './service-connection.ts';

export type CapabilityQuery = Partial<ListCapabilitiesQuery>;

export class CapabilitiesClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  list(query: CapabilityQuery = {}): Promise<CapabilityPage> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'capabilities'], query });
  }

  all(query: Omit<CapabilityQuery, 'cursor'> = {}): AsyncGenerator<CapabilityView> {
    return everyItem((cursor) => this.list(cursor === undefined ? query : { ...query, cursor }));
  }

  get(name: string, namespace?: string): Promise<CapabilityView> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'capabilities', name], query: { namespace } });
  }

  /** An operator's word: approve, deprecate, clear `sensitive`. */
  update(name: string, update: CapabilityUpdate, namespace?: string): Promise<CapabilityView> {
    return this.#connection.call({
      method: 'PATCH',
      path: ['v1', 'capabilities', name],
      query: { namespace },
      body: update,
    });
  }
}
