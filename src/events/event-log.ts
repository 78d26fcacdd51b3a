/**
 * The newest events of the registry, in order, each with an id that a reader comes back with. Readers hold a place,
 * not a buffer: whoever is slower than the log is long skips what was dropped, and is told so. Memory is that of the
 * kept events, whatever the number of readers.
 */
import { AgentReachError } from '../core/index.ts';
import { type EventId, isAfter, readEventId, writeEventId } from './event-id.ts';
import { EventReader } from './event-reader.ts';
import type { RegistryEvent } from './registry-event.ts';

export interface LoggedEvent {
  readonly id: string;
  readonly event: RegistryEvent;
}

export interface EventLogOptions {
  /** Lower-case letters and digits: another name, other ids. */
  readonly id: string;
  /** Position of the last change before the first event. Default 0. */
  readonly from?: number;
  /** Events kept. Default 10,000, some 3 MB. */
  readonly capacity?: number;
}

const DEFAULT_CAPACITY = 10_000;
/** No change has so many. */
const LAST_NUMBER = 999_999;

export class EventLog {
  readonly #logId: string;
  readonly #capacity: number;
  /** A ring: the event of serial `n` lies at `n % capacity`. */
  readonly #kept: LoggedEvent[] = [];
  /** Serial of the next event; of the oldest kept one. */
  #next = 0;
  #first = 0;
  #position: number;
  #number = 0;
  /** Whatever lies after it is kept. */
  #floor: EventId;
  #arrivals = new Set<() => void>();
  #isClosed = false;

  constructor(options: EventLogOptions) {
    this.#logId = options.id;
    this.#capacity = options.capacity ?? DEFAULT_CAPACITY;
    this.#position = options.from ?? 0;
    this.#floor = { logId: options.id, position: this.#position, number: LAST_NUMBER };
  }

  /** A reader that comes back with it gets everything from now on. */
  get lastId(): string {
    const newest = this.#kept[(this.#next - 1) % this.#capacity];
    return this.#next > this.#first && newest !== undefined ? newest.id : writeEventId(this.#floor);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** `position` is that of the change, or one more than before where nobody else gives positions. */
  append(event: RegistryEvent, position = this.#position + 1): void {
    this.#number = position === this.#position ? this.#number + 1 : 0;
    this.#position = position;
    if (this.#next - this.#first === this.#capacity) this.#dropOldest();
    const id = writeEventId({ logId: this.#logId, position, number: this.#number });
    this.#kept[this.#next % this.#capacity] = { id, event };
    this.#next += 1;
    this.#tell();
  }

  /** Of an empty log: the past after this position is going to be told again. */
  startAt(position: number): void {
    this.#position = position;
    this.#floor = { logId: this.#logId, position, number: LAST_NUMBER };
  }

  /** Changes up to there were missed: what was kept before does not lead to what comes. */
  skipTo(position: number): void {
    // One serial that nobody finds: every reader has missed something.
    this.#next += 1;
    this.#first = this.#next;
    this.#position = position;
    this.#number = 0;
    this.#floor = { logId: this.#logId, position, number: LAST_NUMBER };
    this.#tell();
  }

  /**
   * Reads everything after this id; without one from now on. Errors: AR_ERR_EVENTS_GONE where that is not kept any
   * more, or was never of this log; AR_ERR_INVALID_CURSOR.
   */
  read(after?: string): EventReader {
    if (after === undefined) return new EventReader(this, this.#next, this.lastId);
    return new EventReader(this, this.#serialAfter(after), after);
  }

  /** The event of a serial, or undefined where it is yet to come; `missed` counts those dropped from there on. */
  at(serial: number): { readonly entry: LoggedEvent | undefined; readonly missed: number } {
    const missed = Math.max(0, this.#first - serial);
    const wanted = serial + missed;
    return { entry: wanted < this.#next ? this.#kept[wanted % this.#capacity] : undefined, missed };
  }

  /** The id before which everything was dropped. */
  get floorId(): string {
    return writeEventId(this.#floor);
  }

  /** Calls back once, at the next event or when the log closes, unless the returned function is called before. */
  onArrival(listener: () => void): () => void {
    this.#arrivals.add(listener);
    return () => void this.#arrivals.delete(listener);
  }

  /** Ends every reader. */
  close(): void {
    this.#isClosed = true;
    this.#tell();
  }

  #dropOldest(): void {
    const oldest = this.#kept[this.#first % this.#capacity];
    this.#floor = (oldest === undefined ? undefined : readEventId(oldest.id)) ?? this.#floor;
    this.#first += 1;
  }

  #serialAfter(after: string): number {
    const id = readEventId(after);
    if (id === undefined) throw new AgentReachError('AR_ERR_INVALID_CURSOR', { detail: 'no event has such an id' });
    if (id.logId !== this.#logId || isAfter(this.#floor, id)) {
      throw new AgentReachError('AR_ERR_EVENTS_GONE', {
        detail: `events after ${after} are not kept: follow from now on, read GET /v1/agents, then apply what comes`,
      });
    }
    // Almost always near the end.
    let serial = this.#next;
    for (; serial > this.#first; serial--) {
      const before = readEventId(this.#kept[(serial - 1) % this.#capacity]?.id ?? '');
      if (before === undefined || !isAfter(before, id)) break;
    }
    return serial;
  }

  #tell(): void {
    const arrivals = this.#arrivals;
    this.#arrivals = new Set();
    for (const resolve of arrivals) resolve();
  }
}
