/**
 * The append-only record of every decision about a sensitive capability. `append` resolves once the record would
 * survive the death of the process, and the decision is answered only then: no sensitive answer without its record.
 * Records are never changed; whole days older than `keepDays` are dropped. Cost: one durable write a sensitive decision.
 */
import { createHash } from 'node:crypto';
import type { AuditPage, AuditRecord, ListAuditQuery } from '../contract/index.ts';
import {
  type CancelTimer,
  type Clock,
  decodeCursor,
  encodeCursor,
  errorText,
  log,
  publish,
  retryOnConflict,
} from '../core/index.ts';

/** A record with its key: time, then number, both padded, so that keys rise as records come. */
export interface StoredAudit {
  readonly key: string;
  readonly record: AuditRecord;
}

/** Where records outlive the process. Error of each method: AR_ERR_STORE_UNAVAILABLE. */
export interface AuditStore {
  /** Durable when resolved. */
  append(entry: StoredAudit): Promise<void>;
  /** Newest first, those with keys before `before`. `lastKey` is the oldest key looked at, null where none was. */
  newest(limit: number, before?: string): Promise<{ entries: StoredAudit[]; lastKey: string | null }>;
  /** Drops at most `limit` records with keys before `key`; answers how many. */
  dropBefore(key: string, limit: number): Promise<number>;
}

export type AuditEntry = Omit<AuditRecord, 'seq' | 'at' | 'intentHash'>;

export interface AuditLogParts {
  readonly clock: Clock;
  readonly store: AuditStore;
  readonly keepText: boolean;
  /** 0 keeps all. */
  readonly keepDays: number;
}

const DAY_MS = 86_400_000;
const PRUNE_INTERVAL_MS = 3_600_000;
const PRUNE_BATCH = 1_000;
/** Records read at once, and the most that one page of a rare filter looks at. */
const READ_BATCH = 500;
const MAX_SCANNED = 20_000;
const KEY = /^\d{15}-\d{12}$/;

const keyOf = (at: number, seq: number): string => `${String(at).padStart(15, '0')}-${String(seq).padStart(12, '0')}`;

export class AuditLog {
  readonly #parts: AuditLogParts;
  #lastSeq = 0;
  /** Keys rise even when the wall clock is set back. */
  #lastAt = 0;
  #cancelPruning: CancelTimer = () => undefined;

  constructor(parts: AuditLogParts) {
    this.#parts = parts;
  }

  /** Goes on after the newest stored record, and begins to drop old days. Error: AR_ERR_STORE_UNAVAILABLE. */
  async start(): Promise<void> {
    const { lastKey } = await this.#parts.store.newest(1);
    if (lastKey !== null && KEY.test(lastKey)) {
      const [at, seq] = lastKey.split('-');
      this.#lastAt = Number(at);
      this.#lastSeq = Number(seq);
    }
    await this.#prune();
  }

  stop(): void {
    this.#cancelPruning();
  }

  /** Durable when resolved. Error: AR_ERR_STORE_UNAVAILABLE, and then the decision must not be answered. */
  append(entry: AuditEntry): Promise<void> {
    // Another instance may have taken the same key in the same millisecond.
    return retryOnConflict(() => this.#append(entry));
  }

  async #append(entry: AuditEntry): Promise<void> {
    this.#lastSeq += 1;
    this.#lastAt = Math.max(this.#lastAt, this.#parts.clock.wallNow());
    const { intent } = entry;
    const record: AuditRecord = {
      seq: this.#lastSeq,
      at: new Date(this.#lastAt).toISOString(),
      ...entry,
      intentHash: intent === null ? null : createHash('sha256').update(intent, 'utf8').digest('hex'),
      intent: this.#parts.keepText ? intent : null,
    };
    await this.#parts.store.append({ key: keyOf(this.#lastAt, this.#lastSeq), record });
    publish('audit.recorded', { outcome: entry.outcome });
  }

  /** Newest first. Errors: AR_ERR_INVALID_CURSOR, AR_ERR_STORE_UNAVAILABLE. */
  async list({ capability, outcome, limit, cursor }: ListAuditQuery): Promise<AuditPage> {
    let before = cursor === undefined ? undefined : decodeCursor(cursor, KEY);
    const items: AuditRecord[] = [];
    for (let scanned = 0; scanned < MAX_SCANNED; scanned += READ_BATCH) {
      const { entries, lastKey } = await this.#parts.store.newest(READ_BATCH, before);
      for (const { key, record } of entries) {
        if (capability !== undefined && record.capability !== capability) continue;
        if (outcome !== undefined && record.outcome !== outcome) continue;
        items.push(record);
        if (items.length === limit) return { items, nextCursor: encodeCursor(key) };
      }
      if (lastKey === null) return { items, nextCursor: null };
      before = lastKey;
    }
    return { items, nextCursor: before === undefined ? null : encodeCursor(before) };
  }

  async #prune(): Promise<void> {
    const { clock, store, keepDays } = this.#parts;
    if (keepDays === 0) return;
    const firstKept = Math.max(0, (Math.floor(clock.wallNow() / DAY_MS) - keepDays) * DAY_MS);
    try {
      let dropped = 0;
      for (let batch = PRUNE_BATCH; batch === PRUNE_BATCH; dropped += batch) {
        batch = await store.dropBefore(keyOf(firstKept, 0), PRUNE_BATCH);
      }
      if (dropped > 0) log('info', 'audit records of old days were dropped', { dropped, keepDays });
    } catch (error) {
      log('warn', 'old audit records were not dropped; trying again', { reason: errorText(error) });
    }
    this.#cancelPruning = clock.schedule(PRUNE_INTERVAL_MS, () => void this.#prune());
  }
}
