/** How one of several fitting agents is picked. */
import type { StrategiesDocument, StrategiesReloadReply, StrategiesReply } from '../contract/index.ts';
import type { ServiceConnection } from './service-connection.ts';

export interface StrategyEditOptions {
  /** The version that the edit is based on; another one in force: AR_ERR_STRATEGIES_CONFLICT. */
  readonly expectedVersion?: string | undefined;
}

const PATH = ['v1', 'strategies'];

const ifMatch = ({ expectedVersion }: StrategyEditOptions) =>
  expectedVersion === undefined ? {} : { headers: { 'if-match': `"${expectedVersion}"` } };

export class StrategiesClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  show(): Promise<StrategiesReply> {
    return this.#connection.call({ method: 'GET', path: PATH });
  }

  /** Goes before the file until it is removed; survives a restart of the service. */
  put(document: StrategiesDocument, options: StrategyEditOptions = {}): Promise<StrategiesReply> {
    return this.#connection.call({ method: 'PUT', path: PATH, body: document, ...ifMatch(options) });
  }

  /** Takes away what was put. */
  remove(options: StrategyEditOptions = {}): Promise<StrategiesReply> {
    return this.#connection.call({ method: 'DELETE', path: PATH, ...ifMatch(options) });
  }

  /** Reads the file of the service again. */
  reload(): Promise<StrategiesReloadReply> {
    return this.#connection.call({ method: 'POST', path: [...PATH, 'reload'] });
  }
}
