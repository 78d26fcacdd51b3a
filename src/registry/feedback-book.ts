/**
 * What callers say an intent really meant, kept until an operator decides. Nothing is learned before an approval; an
 * approval is an operator's example in the dictionary, durable before the feedback itself is marked, so that a crash
 * in between leaves it pending and a second approval changes nothing twice.
 */
import { type CapabilityDictionary, parseCapabilityName, suggestNames } from '../capability/index.ts';
import {
  type Feedback,
  type FeedbackPage,
  type FeedbackQuery,
  type FeedbackStatus,
  MAX_EXAMPLE_LENGTH,
} from '../contract/index.ts';
import {
  AgentReachError,
  type Clock,
  canonicalText,
  decodeCursor,
  hasWords,
  pageOf,
  retryOnConflict,
} from '../core/index.ts';
import type { FeedbackRecord, FeedbackStore } from './feedback-store.ts';

export interface FeedbackBookParts {
  readonly clock: Clock;
  readonly store: FeedbackStore;
  readonly dictionary: CapabilityDictionary;
  /** Adds an example for good; false where it was one already. */
  readonly addExample: (namespace: string, name: string, example: string) => Promise<boolean>;
  /** Pending ones beyond this are refused, decided ones forgotten, the oldest first. Default 10,000 of each. */
  readonly maxEach?: number;
}

/** A report whose intent is known by now. */
export interface KnownReport {
  readonly intent: string;
  readonly namespace: string;
  readonly correct: string | null;
  readonly answered: string | null;
  readonly requestId: string | null;
}

const DEFAULT_MAX_EACH = 10_000;
const CURSOR = /^-\d{12}$/;

const numberOf = (id: string): number => Number(id.slice('fb_'.length));
/** Ascending keys, newest first. */
const keyOf = ({ id }: FeedbackRecord): string => `-${String(999_999_999_999 - numberOf(id)).padStart(12, '0')}`;
const sameWord = ({ namespace, intent, correct }: Pick<FeedbackRecord, 'namespace' | 'intent' | 'correct'>): string =>
  JSON.stringify([namespace, correct, canonicalText(intent)]);

export class FeedbackBook {
  readonly #parts: FeedbackBookParts;
  readonly #maxEach: number;
  /** In the order in which they came to be known here: after a gap in the log any. */
  readonly #records = new Map<string, FeedbackRecord>();
  /** Pending ones by what they say. */
  readonly #pending = new Map<string, string>();
  #lastNumber = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(parts: FeedbackBookParts) {
    this.#parts = parts;
    this.#maxEach = parts.maxEach ?? DEFAULT_MAX_EACH;
  }

  /** Takes over what the store holds: once, before anything else. Error: AR_ERR_STORE_UNAVAILABLE. */
  async load(): Promise<void> {
    for (const record of await this.#parts.store.load()) this.#take(record);
  }

  /** What another instance stored. */
  follow({ put, remove }: { readonly put: readonly FeedbackRecord[]; readonly remove: readonly string[] }): void {
    for (const id of remove) this.#records.delete(id);
    for (const record of put) this.#take(record);
  }

  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Files a report; one that says the same as a pending one counts with it. Durable when resolved. Errors:
   * AR_ERR_INVALID_INTENT, AR_ERR_INVALID_REQUEST, AR_ERR_INVALID_CAPABILITY, AR_ERR_CAPABILITY_NOT_FOUND,
   * AR_ERR_OVERLOADED, AR_ERR_STORE_UNAVAILABLE, AR_ERR_STOPPING.
   */
  report(report: KnownReport, by: string): Promise<{ readonly feedback: Feedback; readonly created: boolean }> {
    return this.#serially(async () => {
      this.#assertUsable(report);
      const known = this.#records.get(this.#pending.get(sameWord(report)) ?? '');
      const record = known === undefined ? this.#fresh(report, by) : { ...known, reports: known.reports + 1 };
      await this.#parts.store.commit({ put: [record] });
      this.#take(record);
      return { feedback: viewOf(record), created: known === undefined };
    });
  }

  /** Newest first. Error: AR_ERR_INVALID_CURSOR. */
  list({ status, namespace, limit, cursor }: FeedbackQuery): FeedbackPage {
    const after = cursor === undefined ? undefined : decodeCursor(cursor, CURSOR);
    const wanted = [...this.#records.values()].filter((one) => {
      return (status ?? one.status) === one.status && (namespace ?? one.namespace) === one.namespace;
    });
    wanted.sort((a, b) => numberOf(b.id) - numberOf(a.id));
    const page = pageOf(wanted, keyOf, { after, limit });
    return { items: page.items.map(viewOf), nextCursor: page.nextCursor, pending: this.pending };
  }

  /**
   * The intent becomes an example of the capability, found by routes when this resolves. Errors:
   * AR_ERR_FEEDBACK_NOT_FOUND, AR_ERR_FEEDBACK_DECIDED, AR_ERR_CAPABILITY_NOT_FOUND, AR_ERR_CAPABILITY_DEPRECATED,
   * AR_ERR_INVALID_REQUEST (the capability has its most), AR_ERR_STORE_UNAVAILABLE, AR_ERR_STOPPING.
   */
  approve(id: string, by: string): Promise<Feedback> {
    return this.#decide(id, by, 'approved', async ({ namespace, correct, intent }) => {
      if (correct === null) return 'none';
      return (await this.#parts.addExample(namespace, correct, intent)) ? 'example_added' : 'already_known';
    });
  }

  /** Errors: AR_ERR_FEEDBACK_NOT_FOUND, AR_ERR_FEEDBACK_DECIDED, AR_ERR_STORE_UNAVAILABLE, AR_ERR_STOPPING. */
  reject(id: string, by: string): Promise<Feedback> {
    return this.#decide(id, by, 'rejected', async () => 'none');
  }

  /** Refuses further changes and waits for those on their way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#tail;
  }

  #decide(
    id: string,
    by: string,
    status: Exclude<FeedbackStatus, 'pending'>,
    apply: (record: FeedbackRecord) => Promise<NonNullable<FeedbackRecord['effect']>>,
  ): Promise<Feedback> {
    return this.#serially(async () => {
      const record = this.#records.get(id);
      if (record === undefined) {
        throw new AgentReachError('AR_ERR_FEEDBACK_NOT_FOUND', { detail: `no feedback ${id} is stored` });
      }
      if (record.status === status) return viewOf(record);
      if (record.status !== 'pending') {
        throw new AgentReachError('AR_ERR_FEEDBACK_DECIDED', { detail: `${id} is ${record.status} already` });
      }
      const effect = await apply(record);
      // Meanwhile another instance may have decided.
      if (this.#records.get(id) !== record) throw new AgentReachError('AR_ERR_STORE_CONFLICT');
      const decided = { ...record, status, effect, decidedAt: this.#parts.clock.wallNow(), decidedBy: by };
      const forgotten = this.#oldestDecided();
      await this.#parts.store.commit({ put: [decided], remove: forgotten });
      for (const old of forgotten) this.#records.delete(old);
      this.#take(decided);
      return viewOf(decided);
    });
  }

  #assertUsable({ intent, correct, namespace }: KnownReport): void {
    if (!hasWords(canonicalText(intent))) throw new AgentReachError('AR_ERR_INVALID_INTENT');
    if (correct === null) return;
    if (intent.trim().length > MAX_EXAMPLE_LENGTH) {
      const message = `is longer than an example may be (${MAX_EXAMPLE_LENGTH} characters)`;
      throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
        detail: `intent: ${message}`,
        issues: [{ path: 'intent', message }],
      });
    }
    const known = this.#parts.dictionary.names(namespace);
    const name = parseCapabilityName(correct, { known, path: 'correct' });
    if (this.#parts.dictionary.get(namespace, name) !== undefined) return;
    throw new AgentReachError('AR_ERR_CAPABILITY_NOT_FOUND', {
      detail: `correct: ${name} is not in the dictionary of namespace ${namespace}`,
      suggestions: suggestNames(name, known),
    });
  }

  #fresh({ intent, namespace, correct, answered, requestId }: KnownReport, by: string): FeedbackRecord {
    if (this.pending >= this.#maxEach) {
      throw new AgentReachError('AR_ERR_OVERLOADED', {
        detail: `${this.pending} reports wait for an operator, which is the most: approve or reject some`,
      });
    }
    return {
      id: `fb_${this.#lastNumber + 1}`,
      status: 'pending',
      namespace,
      intent: intent.trim(),
      correct,
      answered,
      requestId,
      reports: 1,
      createdAt: this.#parts.clock.wallNow(),
      createdBy: by,
      decidedAt: null,
      decidedBy: null,
      effect: null,
    };
  }

  #take(record: FeedbackRecord): void {
    this.#lastNumber = Math.max(this.#lastNumber, numberOf(record.id));
    this.#records.set(record.id, record);
    if (record.status === 'pending') this.#pending.set(sameWord(record), record.id);
    else this.#pending.delete(sameWord(record));
  }

  #oldestDecided(): string[] {
    if (this.#records.size - this.pending < this.#maxEach) return [];
    let oldest: FeedbackRecord | undefined;
    for (const record of this.#records.values()) {
      if (record.status === 'pending') continue;
      if (oldest === undefined || numberOf(record.id) < numberOf(oldest.id)) oldest = record;
    }
    return oldest === undefined ? [] : [oldest.id];
  }

  async #serially<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#isStopped) throw new AgentReachError('AR_ERR_STOPPING');
    const run = this.#tail.then(() => retryOnConflict(task));
    this.#tail = run.catch(() => undefined);
    return run;
  }
}

function viewOf(record: FeedbackRecord): Feedback {
  return {
    ...record,
    createdAt: new Date(record.createdAt).toISOString(),
    decidedAt: record.decidedAt === null ? null : new Date(record.decidedAt).toISOString(),
  };
}
