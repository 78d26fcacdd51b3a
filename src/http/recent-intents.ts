/**
 * What was asked lately, by request id, so that feedback can name a route instead of repeating its words. Bounded in
 * number, time and text length; only the key that asked may refer to a request, since ids can be guessed.
 */
import { LRUCache } from 'lru-cache';
import { MAX_EXAMPLE_LENGTH, type RouteReply, type RouteRequest } from '../contract/index.ts';
import type { Clock } from '../core/index.ts';
import type { HttpCaller } from './services.ts';

export interface RecentIntent {
  readonly intent: string;
  readonly namespace: string;
  /** The capability that was answered. */
  readonly answered: string | null;
  readonly keyId: string;
}

export const RECENT_INTENTS = 10_000;
export const RECENT_MS = 3_600_000;

export class RecentIntents {
  readonly #entries: LRUCache<string, RecentIntent>;

  constructor(clock: Clock) {
    this.#entries = new LRUCache({
      max: RECENT_INTENTS,
      ttl: RECENT_MS,
      ttlResolution: 0,
      // Zero would mean "no time" to the library.
      perf: { now: () => clock.now() + 1 },
    });
  }

  /** Intents too long to become an example are not worth their memory, nor are those of nobody who wanted them done. */
  note(request: RouteRequest, reply: RouteReply, { keyId }: HttpCaller): void {
    const { intent, namespace, probe } = request;
    if (intent === undefined || intent.length > MAX_EXAMPLE_LENGTH || probe === true) return;
    this.#entries.set(reply.requestId, { intent, namespace, answered: reply.capability, keyId });
  }

  find(requestId: string, { keyId }: HttpCaller): RecentIntent | undefined {
    const found = this.#entries.get(requestId);
    return found?.keyId === keyId ? found : undefined;
  }
}
