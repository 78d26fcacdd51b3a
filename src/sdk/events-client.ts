/** The change feed: every change once and in order, over broken connections and other instances too. */
import type { EventType, FeedEvent, FeedGap, FeedReady } from '../contract/index.ts';
import { backoffMs, type Clock, isAgentReachError, systemClock } from '../core/index.ts';
import { readEventStream } from './event-stream.ts';
import type { ServiceConnection } from './service-connection.ts';

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

export class EventsClient {
  readonly #connection: ServiceConnection;
  readonly #clock: Clock;

  constructor(connection: ServiceConnection, clock: Clock = systemClock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /**
   * Calls back for each event until `signal` ends it. Errors: AR_ERR_EVENTS_GONE where what follows `since` is not kept
   * any more; those of a request that no repeat cures.
   */
  async follow(onEvent: (event: FeedEvent) => void, options: FollowOptions = {}): Promise<void> {
    const { signal } = options;
    const isOver = (): boolean => signal?.aborted === true;
    let since = options.since;
    let isTold = false;
    for (let failures = 0; !isOver(); failures++) {
      try {
        await this.#once({ ...options, since }, (event, data) => {
          failures = 0;
          if (event === 'ready') {
            const ready = data as FeedReady;
            since ??= ready.id;
            if (!isTold) options.onReady?.(ready);
            isTold = true;
          } else if (event === 'gap') {
            since = (data as FeedGap).until;
            options.onGap?.(data as FeedGap);
          } else {
            since = (data as FeedEvent).id;
            onEvent(data as FeedEvent);
          }
        });
      } catch (error) {
        if (isOver()) return;
        if (isAgentReachError(error) && !error.definition.retryable) throw error;
        options.onBroken?.(error);
      }
      await this.#pause(backoffMs(failures + 1, RETRY, Math.random()), signal);
    }
  }

  #once(options: FollowOptions, onData: (event: string, data: unknown) => void): Promise<void> {
    const { types, namespace, since, signal } = options;
    const request = {
      method: 'GET' as const,
      path: ['v1', 'events'],
      query: { ...(types === undefined ? {} : { types: types.join(',') }), namespace },
      ...(since === undefined ? {} : { headers: { 'last-event-id': since } }),
      timeoutMs: 0,
      signal,
    };
    return this.#connection.stream(request, async (chunks) => {
      for await (const { event, data } of readEventStream(chunks)) onData(event, JSON.parse(data));
    });
  }

  #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const cancel = this.#clock.schedule(ms, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  }
}
