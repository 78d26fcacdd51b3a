/** The change feed: what happens to agents and names, each change once and in order. */
import { type FollowEventsQuery, followEventsQuerySchema } from '../../contract/index.ts';
import type { Clock } from '../../core/index.ts';
import type { RegistryEvent } from '../../events/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { FEED_EVENT, FEED_EVENTS } from '../event-examples.ts';
import { eventFeed } from '../event-feed.ts';
import { EVENT_STREAM_TYPE } from '../event-stream.ts';
import type { EventFeedService } from '../services.ts';

export function eventEndpoints(events: EventFeedService, clock: Clock): Endpoint[] {
  return [followEvents(events, clock)];
}

const followEvents = (events: EventFeedService, clock: Clock): Endpoint =>
  endpoint({
    method: 'get',
    path: '/v1/events',
    operationId: 'followEvents',
    tag: 'events',
    access: 'key',
    summary: 'Follow what changes in the registry',
    description:
      'A stream that never ends by itself. First comes `ready` with the id after which everything comes (at a resume ' +
      'the one resumed from) and the registry epoch of now; then each change as an event of its type; `gap` where ' +
      'events were dropped before a slow reader came to them; in every silence of 15 s a comment, with the id up to ' +
      'which nothing was for this reader. To hold the registry in step: open the stream, read GET /v1/agents, then ' +
      'apply what comes. After a break send the last id, that of a comment too, as `Last-Event-ID`, at this instance ' +
      'or another one.',
    query: followEventsQuerySchema,
    headers: [{ name: 'Last-Event-ID', description: 'Id of the last event seen.', example: FEED_EVENT.id }],
    replies: {
      200: { description: 'A stream, whatever is accepted.', contentType: 'text/event-stream', example: FEED_EVENTS },
    },
    errors: ['AR_ERR_EVENTS_GONE', 'AR_ERR_INVALID_CURSOR'],
    handle({ query, header }) {
      const log = events.log;
      const reader = log.read(header('last-event-id') ?? query.since);
      const ready = { id: reader.lastId, epoch: events.epoch() };
      const body = eventFeed({ clock, log, reader, ready, isWanted: wanted(query) });
      const headers = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
      return { status: 200, body, contentType: EVENT_STREAM_TYPE, headers };
    },
  });

function wanted({ types, namespace }: FollowEventsQuery): (event: RegistryEvent) => boolean {
  const chosen = types === undefined ? undefined : new Set<string>(types);
  return (event) =>
    (chosen === undefined || chosen.has(event.type)) && (namespace === undefined || event.namespace === namespace);
}
