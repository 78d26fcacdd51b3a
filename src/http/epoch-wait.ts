/** A blocking query: waits until the registry is no longer at the epoch that the caller knows. */
import type { Clock } from '../core/index.ts';
import { arrivalWithin } from './log-arrival.ts';
import type { EventFeedService } from './services.ts';

const DEFAULT_WAIT_MS = 30_000;

/** Resolves early when the service stops. An epoch of another instance is another one, so that nobody waits for it. */
export async function epochMoved(
  events: EventFeedService,
  clock: Clock,
  { waitIndex, waitMs = DEFAULT_WAIT_MS }: { readonly waitIndex: number; readonly waitMs?: number | undefined },
): Promise<void> {
  const until = clock.now() + waitMs;
  while (events.epoch() === waitIndex && clock.now() < until && !events.log.isClosed) {
    await arrivalWithin(events.log, clock, until - clock.now()).arrived;
  }
}
