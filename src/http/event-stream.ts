/**
 * Server-sent events from work that reports as it goes. Progress may be dropped when the reader is slow (the next
 * one says more); the last event never is. A reader that goes away does not stop the work.
 */
const encoder = new TextEncoder();
/** Events kept for a slow reader before progress is dropped. */
const HIGH_WATER = 64;

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

export interface FinalEvent {
  readonly event: string;
  readonly data: unknown;
}

/** `work` must not reject: what went wrong is its final event. */
export function eventStream(
  work: (report: (event: string, data: unknown) => void) => Promise<FinalEvent>,
): ReadableStream<Uint8Array> {
  let isOpen = true;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const report = (event: string, data: unknown): void => {
          if (isOpen && (controller.desiredSize ?? 0) > 0) controller.enqueue(frame(event, data));
        };
        // Not awaited: a stream whose start is pending hands nothing to its reader.
        void work(report).then(({ event, data }) => {
          if (!isOpen) return;
          controller.enqueue(frame(event, data));
          controller.close();
        });
      },
      cancel() {
        isOpen = false;
      },
    },
    { highWaterMark: HIGH_WATER },
  );
}

/** JSON holds no raw line break, so one `data:` line always does. */
export function frame(event: string, data: unknown, id?: string): Uint8Array {
  const place = id === undefined ? '' : `id: ${id}\n`;
  return encoder.encode(`${place}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** No event: a line to skip, and the id to come back with. */
export function placeComment(id: string): Uint8Array {
  return encoder.encode(`: quiet\nid: ${id}\n\n`);
}
