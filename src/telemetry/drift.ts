/**
 * Whether callers ask for other things than last week: relevances and the no_match share of this hour and this day
 * against the week before, as population stability indexes (PSI). Hour buckets of twelve counts for eight days and an
 * hour, so that it costs a few kilobytes and one increment a route. They are kept over restarts, at most five minutes
 * behind after a crash.
 */
import { type Clock, errorText, log, publish, subscribe } from '../core/index.ts';

const BINS = 10;
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const WEEK_HOURS = 168;
const KEPT_HOURS = WEEK_HOURS + DAY_HOURS + 1;
/** Fewer routes than this say nothing: with ten bins chance alone gives an index of about 10 / routes. */
const MIN_NOW = 200;
const MIN_BEFORE = 1_000;
/** The customary reading: under 0.1 no change, above 0.25 another population. */
export const DRIFT_WARNING = 0.25;
/** A warning that has been given comes again only after the index fell under this. */
const DRIFT_OVER = 0.2;
const CHECKED_EVERY = 50;
const SAVED_EVERY_MS = 300_000;

export type DriftWindow = 'hour' | 'day';
export type DriftOf = 'relevance' | 'no_match';

interface Counts {
  readonly relevance: number[];
  decided: number;
  noMatch: number;
}

/** What is kept over a restart. */
export interface DriftRecord {
  /** Hour since 1970, routes decided, no_match among them, then routes by relevance in tenths. */
  readonly hours: readonly (readonly number[])[];
  /** Warnings that have been given and are not over. */
  readonly warned: readonly string[];
}

export interface DriftStore {
  load(): Promise<DriftRecord | undefined>;
  save(record: DriftRecord): Promise<void>;
}

export interface DriftFigures {
  /** null while one of the two sides holds too few routes. */
  readonly relevance: number | null;
  readonly noMatch: number | null;
  readonly noMatchShare: number | null;
  readonly noMatchShareBefore: number | null;
}

const empty = (): Counts => ({ relevance: new Array<number>(BINS).fill(0), decided: 0, noMatch: 0 });

/** Sum of (p - q) ln(p / q); half a count in every bin keeps an empty one from being infinite. */
export function stabilityIndex(now: readonly number[], before: readonly number[]): number {
  const shares = (counts: readonly number[]): number[] => {
    const total = counts.reduce((sum, count) => sum + count + 0.5, 0);
    return counts.map((count) => (count + 0.5) / total);
  };
  const [p, q] = [shares(now), shares(before)];
  return p.reduce((sum, share, at) => sum + (share - (q[at] ?? share)) * Math.log(share / (q[at] ?? share)), 0);
}

export class DriftWatch {
  readonly #clock: Clock;
  readonly #hours = new Map<number, Counts>();
  readonly #warned = new Set<string>();
  readonly #store: DriftStore | undefined;
  readonly #unsubscribe: () => void;
  #sinceCheck = 0;
  #cancelSave: (() => void) | undefined;

  /** Without a store it forgets with the process. */
  constructor(clock: Clock, store?: DriftStore) {
    this.#clock = clock;
    this.#store = store;
    this.#unsubscribe = subscribe('route.decided', ({ decision, relevance, isProbe }) => {
      if (isProbe !== true) this.#note(decision === 'no_match', relevance ?? null);
    });
  }

  figures(window: DriftWindow): DriftFigures {
    const hour = this.#hour();
    const length = window === 'hour' ? 1 : DAY_HOURS;
    const now = this.#sum(hour - length + 1, hour);
    const before = this.#sum(hour - length - WEEK_HOURS + 1, hour - length);
    const counted = ({ relevance }: Counts): number => relevance.reduce((sum, count) => sum + count, 0);
    const isEnough = (mine: number, theirs: number): boolean => mine >= MIN_NOW && theirs >= MIN_BEFORE;
    const split = ({ decided, noMatch }: Counts): number[] => [noMatch, decided - noMatch];
    return {
      relevance: isEnough(counted(now), counted(before)) ? stabilityIndex(now.relevance, before.relevance) : null,
      noMatch: isEnough(now.decided, before.decided) ? stabilityIndex(split(now), split(before)) : null,
      noMatchShare: now.decided === 0 ? null : now.noMatch / now.decided,
      noMatchShareBefore: before.decided === 0 ? null : before.noMatch / before.decided,
    };
  }

  /** Adds what was counted before the restart; what cannot be read is told of and left. */
  async load(): Promise<void> {
    try {
      const record = await this.#store?.load();
      for (const [hour = 0, decided = 0, noMatch = 0, ...relevance] of record?.hours ?? []) {
        const counts = this.#countsOf(hour);
        counts.decided += decided;
        counts.noMatch += noMatch;
        for (const [bin, count] of relevance.slice(0, BINS).entries())
          counts.relevance[bin] = (counts.relevance[bin] ?? 0) + count;
      }
      for (const key of record?.warned ?? []) this.#warned.add(key);
    } catch (error) {
      log('warn', 'drift starts anew: what was counted before cannot be read', { reason: errorText(error) });
    }
  }

  /** Resolves when the last counts are kept. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    if (this.#cancelSave === undefined) return;
    this.#cancelSave();
    await this.#save();
  }

  #countsOf(hour: number): Counts {
    let counts = this.#hours.get(hour);
    if (counts === undefined) {
      counts = empty();
      this.#hours.set(hour, counts);
    }
    return counts;
  }

  #saveLater(): void {
    if (this.#store === undefined || this.#cancelSave !== undefined) return;
    this.#cancelSave = this.#clock.schedule(SAVED_EVERY_MS, () => {
      this.#cancelSave = undefined;
      void this.#save();
    });
  }

  async #save(): Promise<void> {
    const from = this.#hour() - KEPT_HOURS;
    const hours = Array.from(this.#hours)
      .filter(([hour]) => hour > from)
      .map(([hour, { decided, noMatch, relevance }]) => [hour, decided, noMatch, ...relevance]);
    try {
      await this.#store?.save({ hours, warned: [...this.#warned] });
    } catch (error) {
      log('warn', 'drift counts could not be kept; the next are tried again', { reason: errorText(error) });
    }
  }

  #hour(): number {
    return Math.floor(this.#clock.wallNow() / HOUR_MS);
  }

  #note(isNoMatch: boolean, relevance: number | null): void {
    const hour = this.#hour();
    const isNew = !this.#hours.has(hour);
    const counts = this.#countsOf(hour);
    if (isNew) {
      for (const old of this.#hours.keys()) if (old <= hour - KEPT_HOURS) this.#hours.delete(old);
    }
    counts.decided += 1;
    if (isNoMatch) counts.noMatch += 1;
    if (relevance !== null) {
      const bin = Math.min(BINS - 1, Math.max(0, Math.floor(relevance * BINS)));
      counts.relevance[bin] = (counts.relevance[bin] ?? 0) + 1;
    }
    this.#saveLater();
    this.#sinceCheck += 1;
    if (this.#sinceCheck >= CHECKED_EVERY) this.#check();
  }

  #check(): void {
    this.#sinceCheck = 0;
    for (const window of ['hour', 'day'] as const) {
      const { relevance, noMatch, noMatchShare, noMatchShareBefore } = this.figures(window);
      for (const [of, index] of [
        ['relevance', relevance],
        ['no_match', noMatch],
      ] as const) {
        const key = `${window} ${of}`;
        if (index === null || index < DRIFT_OVER) this.#warned.delete(key);
        if (index === null || index <= DRIFT_WARNING || this.#warned.has(key)) continue;
        this.#warned.add(key);
        publish('route.drifted', { window, of, index, noMatchShare, noMatchShareBefore });
      }
    }
  }

  #sum(from: number, to: number): Counts {
    const sum = empty();
    for (const [hour, counts] of this.#hours) {
      if (hour < from || hour > to) continue;
      sum.decided += counts.decided;
      sum.noMatch += counts.noMatch;
      for (const [bin, count] of counts.relevance.entries()) sum.relevance[bin] = (sum.relevance[bin] ?? 0) + count;
    }
    return sum;
  }
}
