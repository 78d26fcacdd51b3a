/**
 * The change feed as an endless stream. It pulls: events are written as fast as the reader takes them, and nothing is
 * kept for it but its place in the log. Silence is filled with comments, so that neither side takes it for a death;
 * each tells how far the log was read, so that a reader to whom nothing matters can go on from there.
 */
import type { FeedEvent } from '../contract/index.ts';
import { type Clock, nextTurn } from '../core/index.ts';
import type { EventLog, EventReader, ReadEvent, RegistryEvent } from '../events/index.ts';
import { frame, placeComment } from './event-stream.ts';
import { arrivalWithin } from './log-arrival.ts';

const QUIET_MS = 15_000;
const TAKEN_AT_ONCE = 64;
/** Passed over in a row until the place is told, however short the silence: the log keeps some ten times as many. */
const UNTOLD = 1_024;

export interface EventFeedParts {
  readonly clock: Clock;
  readonly log: EventLog;
  readonly reader: EventReader;
  readonly ready: { readonly id: string; readonly epoch: number };
  readonly isWanted: (event: RegistryEvent) => boolean;
}

export function eventFeed({ clock, log, reader, ready, isWanted }: EventFeedParts): ReadableStream<Uint8Array> {
  let giveUp = (): void => undefined;
  let isOpen = true;
  let sentAt = clock.now();
  let passedOver = 0;
  const waitForNews = (): Promise<boolean> => {
    const arrival = arrivalWithin(log, clock, sentAt + QUIET_MS - clock.now());
    giveUp = arrival.giveUp;
    return arrival.arrived;
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(frame('ready', ready, ready.id));
      },
      async pull(controller) {
        const send = (frames: readonly Uint8Array[]): void => {
          for (const one of frames) controller.enqueue(one);
          sentAt = clock.now();
          passedOver = 0;
        };
        while (isOpen) {
          const taken = reader.take(TAKEN_AT_ONCE);
          const frames = taken.flatMap((one) => frameOf(one, isWanted));
          if (frames.length > 0) return send(frames);
          passedOver += taken.length;
          if (passedOver >= UNTOLD || clock.now() >= sentAt + QUIET_MS) return send([placeComment(reader.lastId)]);
          if (taken.length > 0) await nextTurn();
          else if (log.isClosed) return controller.close();
          else await waitForNews();
        }
      },
      cancel() {
        isOpen = false;
        giveUp();
      },
    },
    { highWaterMark: 1 },
  );
}

function frameOf(read: ReadEvent, isWanted: (event: RegistryEvent) => boolean): Uint8Array[] {
  if (read.kind === 'gap') {
    const { after, until, missed } = read;
    return [frame('gap', { after, until, missed }, until)];
  }
  return isWanted(read.event) ? [frame(read.event.type, feedEvent(read.id, read.event), read.id)] : [];
}

function feedEvent(id: string, { at, ...event }: RegistryEvent): FeedEvent {
  return { id, at: new Date(at).toISOString(), ...event };
}
