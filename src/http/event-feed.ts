/**
 * The change feed as an endless stream. It pulls: events are written as fast as the reader takes them, and nothing is
 * kept for it but its place in the log. Silence is filled with comments, so that neither side takes it for a death.
 */
import type { FeedEvent } from '../contract/index.ts';
import { type Clock, nextTurn } from '../core/index.ts';
import type { EventLog, EventReader, ReadEvent, RegistryEvent } from '../events/index.ts';
import { frame } from './event-stream.ts';
import { arrivalWithin } from './log-arrival.ts';

const QUIET_MS = 15_000;
const TAKEN_AT_ONCE = 64;
const COMMENT = new TextEncoder().encode(': quiet\n\n');

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
  const waited = (): Promise<boolean> => {
    const arrival = arrivalWithin(log, clock, QUIET_MS);
    giveUp = arrival.giveUp;
    return arrival.arrived;
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(frame('ready', ready, ready.id));
      },
      async pull(controller) {
        while (isOpen) {
          const taken = reader.take(TAKEN_AT_ONCE);
          const frames = taken.flatMap((one) => frameOf(one, isWanted));
          for (const one of frames) controller.enqueue(one);
          if (frames.length > 0) return;
          if (taken.length > 0) await nextTurn();
          else if (log.isClosed) return controller.close();
          else if (!(await waited())) return controller.enqueue(COMMENT);
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
