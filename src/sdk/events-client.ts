/** The change feed: every change once and in order, over broken connections and other instances too. */
import type { EventType, FeedEvent, FeedGap, FeedReady } from '../contract/index.ts';
import { backoffMs, type Clock, isAgentReachError, systemClock } from '../core/index.ts';
import type { ServiceConnection, ServiceEvent } from './service-connection.ts';

export interface FollowOptions {
  readonly types?: readonly EventType[] | undefined;
  readonly namespace?: string | undefined;
  /** Id of the last event seen; without it everything from now on. */
  readonly since?: string | undefined;
  /** Ends the following; the call resolves then. */
  readonly signal?: AbortSignal | undefined;
  /** Once, when the stream is open: everything after `id` comes. */
  readonly onReady?: ((ready: FeedReady) => void) | undefined;
  /** Events were dropped before they came here: read the agents anew. Without it they are passed over. */
  readonly onGap?: ((gap: FeedGap) => void) | undefined;
  /** The connection broke and is made again. */
  readonly onBroken?: ((error: unknown) => void) | undefined;
}

const RETRY = { baseMs: 200, capMs: 5_000 };
/** The service says something every 15 s; after three times as long the link is dead, whatever the socket thinks. */
const SILENCE_MS = 45_000;

export class EventsClient {
  readonly #connection: ServiceConnection;
  readonly #clock: Clock;

  constructor(connection: ServiceConnection, clock: Clock = systemClock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /**
   * Calls back for each event until `signal` ends it. Errors: AR_ERR_EVENTS_GONE where what follows `since` is not kept
   * any more; those of a request that no repeat cures; what a callback throws.
   */
  async follow(onEvent: (event: FeedEvent) => void, options: FollowOptions = {}): Promise<void> {
    let isTold = false;
    for await (const { event, body } of this.#events(options)) {
      if (event === 'ready') {
        if (!isTold) options.onReady?.(body as FeedReady);
        isTold = true;
      } else if (event === 'gap') options.onGap?.(body as FeedGap);
      else onEvent(body as FeedEvent);
    }
  }

  /** Over broken connections: it goes on after the last event that its reader is done with. */
  async *#events(options: FollowOptions): AsyncGenerator<ServiceEvent, void, void> {
    const { types, namespace, signal, onBroken } = options;
    const isOver = (): boolean => signal?.aborted === true;
    const query = { ...(types === undefined ? {} : { types: types.join(',') }), namespace };
    let { since } = options;
    for (let failures = 1; !isOver(); failures++) {
      const headers = since === undefined ? {} : { 'last-event-id': since };
      const request = { method: 'GET' as const, path: ['v1', 'events'], query, headers };
      try {
        for await (const one of this.#connection.events({ ...request, timeoutMs: 0, silenceMs: SILENCE_MS, signal })) {
          failures = 1;
          if (one.body !== undefined) yield one;
          since = one.id ?? since;
        }
      } catch (error) {
        if (isOver()) return;
        if (isAgentReachError(error) && !error.definition.retryable) throw error;
        onBroken?.(error);
      }
      await this.#pause(backoffMs(failures, RETRY, Math.random()), signal);
    }
  }

  #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      // Between two connections nothing else keeps a process alive that only follows.
      const cancel = this.#clock.schedule(ms, end, { keepsAlive: true });
      signal?.addEventListener('abort', end);
    });
  }
}
