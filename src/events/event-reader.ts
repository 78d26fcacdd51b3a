import { type EventId, isAfter, readEventId } from './event-id.ts';
import type { EventLog, LoggedEvent } from './event-log.ts';

/** What a reader is handed: an event, or word of those that were dropped before it came to them. */
export type ReadEvent =
  | (LoggedEvent & { readonly kind: 'event' })
  /** Everything after `after` up to `until` is lost to it; `missed` counts them where they were counted. */
  | { readonly kind: 'gap'; readonly after: string; readonly until: string; readonly missed: number };

/** One reader's place in the log: costs nothing while it waits. */
export class EventReader {
  readonly #log: EventLog;
  #serial: number;
  #lastId: string;
  /** Seen at an instance that was further than this one: what lies up to there comes here later and is passed over. */
  #seen: EventId | undefined;

  constructor(log: EventLog, serial: number, lastId: string) {
    this.#log = log;
    this.#serial = serial;
    this.#lastId = lastId;
    this.#seen = readEventId(lastId);
  }

  /** A reader that comes back with it misses nothing and is told nothing twice. */
  get lastId(): string {
    return this.#lastId;
  }

  /** What is there for it now, at most `limit`. */
  take(limit: number): ReadEvent[] {
    const taken: ReadEvent[] = [];
    while (taken.length < limit) {
      const { entry, missed } = this.#log.at(this.#serial);
      if (missed > 0) {
        this.#serial += missed;
        const until = this.#log.floorId;
        if (this.#hasSeen(until)) continue;
        taken.push({ kind: 'gap', after: this.#lastId, until, missed });
        this.#lastId = until;
        continue;
      }
      if (entry === undefined) break;
      this.#serial += 1;
      if (this.#hasSeen(entry.id)) continue;
      taken.push({ kind: 'event', ...entry });
      this.#lastId = entry.id;
    }
    return taken;
  }

  #hasSeen(id: string): boolean {
    if (this.#seen === undefined) return false;
    const one = readEventId(id);
    if (one !== undefined && !isAfter(one, this.#seen)) return true;
    this.#seen = undefined;
    return false;
  }
}
