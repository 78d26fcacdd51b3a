import { AgentReachError } from '../core/index.ts';
import type { TextKind } from './embedder.ts';

/**
 * The texts that wait for the model. Two first-in-first-out lanes: queries go before documents, but after
 * `QUERY_RUNS_IN_A_ROW` batches of queries a batch of waiting documents gets its turn. A text that is already waiting
 * or running is joined, not queued again. Bounded: `offer` takes all of its texts or none.
 */
export interface BatchQueueOptions {
  readonly maxQueuedQueries: number;
  readonly maxQueuedDocuments: number;
  readonly maxBatchTexts: number;
  /** Monotonic milliseconds, the scale of deadlines. */
  readonly now: () => number;
  /** What a text will cost, in tokens, known before it is tokenized. */
  readonly costOf: (text: string) => number;
}

export interface WaitingText {
  readonly text: string;
  readonly cost: number;
  readonly kind: TextKind;
}

interface Entry extends WaitingText {
  kind: TextKind;
  isRunning: boolean;
  /** The latest of those who wait for it. */
  deadlineAt: number;
  readonly vector: Promise<Float32Array>;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: unknown) => void;
}

/** Queries get three runs of four while documents wait: a bulk registration slows a route down, never stops it. */
const QUERY_RUNS_IN_A_ROW = 3;
/** A batch of documents ends here (about 20 ms of work), since a query that comes meanwhile waits for its end. */
const DOCUMENT_BATCH_TOKENS = 96;

export class BatchQueue {
  readonly #options: BatchQueueOptions;
  readonly #lanes: Readonly<Record<TextKind, Set<Entry>>> = { query: new Set(), document: new Set() };
  readonly #entries = new Map<string, Entry>();
  #queryRuns = 0;
  #msPerText = 4;

  constructor(options: BatchQueueOptions) {
    this.#options = options;
  }

  /** Texts that wait for a run; those that are running do not count. */
  get waiting(): number {
    return this.#lanes.query.size + this.#lanes.document.size;
  }

  /** Nothing waits and nothing runs. */
  get isIdle(): boolean {
    return this.#entries.size === 0;
  }

  /** `deadlineAt`: nobody waits for these texts after it; what would come too late is refused, or dropped unrun. */
  offer(texts: readonly string[], kind: TextKind, deadlineAt = Infinity): Promise<Float32Array>[] {
    this.#admit(texts, kind, deadlineAt);
    return texts.map((text) => {
      const entry = this.#join(text, kind);
      entry.deadlineAt = Math.max(entry.deadlineAt, deadlineAt);
      return entry.vector;
    });
  }

  /** The next batch, one lane only; empty when nothing waits. Its texts stay joinable until it is settled. */
  take(): readonly WaitingText[] {
    const { query, document } = this.#lanes;
    const documentsTurn = query.size === 0 || (document.size > 0 && this.#queryRuns >= QUERY_RUNS_IN_A_ROW);
    this.#queryRuns = documentsTurn ? 0 : this.#queryRuns + 1;
    return documentsTurn ? this.#takeFrom(document, DOCUMENT_BATCH_TOKENS) : this.#takeFrom(query, Infinity);
  }

  resolve(batch: readonly WaitingText[], vectors: readonly Float32Array[], durationMs: number): void {
    this.#msPerText += 0.2 * (durationMs / Math.max(1, batch.length) - this.#msPerText);
    batch.forEach((waiting, index) => {
      const vector = vectors[index];
      const entry = this.#release(waiting);
      if (vector === undefined)
        entry?.reject(new AgentReachError('AR_ERR_INTERNAL', { detail: 'A vector is missing.' }));
      else entry?.resolve(vector);
    });
  }

  reject(batch: readonly WaitingText[], error: unknown): void {
    for (const waiting of batch) this.#release(waiting)?.reject(error);
  }

  /** Gives up what waits in one lane; what runs goes on. */
  rejectWaiting(kind: TextKind, error: unknown): void {
    const waiting = [...this.#lanes[kind]];
    this.#lanes[kind].clear();
    this.reject(waiting, error);
  }

  /** Gives up everything that waits or runs. */
  rejectAll(error: unknown): void {
    this.reject([...this.#entries.values()], error);
  }

  #admit(texts: readonly string[], kind: TextKind, deadlineAt: number): void {
    const lane = this.#lanes[kind];
    const { maxQueuedQueries, maxQueuedDocuments } = this.#options;
    const max = kind === 'query' ? maxQueuedQueries : maxQueuedDocuments;
    const isInTime = this.#options.now() + lane.size * this.#msPerText <= deadlineAt;
    if (isInTime && lane.size + texts.length <= max) return;
    const fresh = new Set(texts.filter((text) => this.#joins(text, kind) === undefined));
    if (fresh.size === 0 || (isInTime && lane.size + fresh.size <= max)) return;
    throw new AgentReachError('AR_ERR_OVERLOADED', {
      detail: isInTime
        ? `${lane.size} ${kind} texts wait for the model already; ${max} is the limit.`
        : `${lane.size} ${kind} texts wait for the model already: too many to be reached in time.`,
      retryAfterMs: Math.max(100, Math.ceil(lane.size * this.#msPerText)),
    });
  }

  /** The entry that a text can share without being added to the lane of `kind`. */
  #joins(text: string, kind: TextKind): Entry | undefined {
    const entry = this.#entries.get(text);
    const mustMove = entry !== undefined && !entry.isRunning && kind === 'query' && entry.kind === 'document';
    return mustMove ? undefined : entry;
  }

  #join(text: string, kind: TextKind): Entry {
    const joined = this.#joins(text, kind);
    if (joined !== undefined) return joined;
    const known = this.#entries.get(text);
    if (known !== undefined) {
      // A query asks for what waits as a document: it must not wait with the documents.
      this.#lanes.document.delete(known);
      known.kind = 'query';
      this.#lanes.query.add(known);
      return known;
    }
    const entry = newEntry(text, kind, this.#options.costOf(text));
    this.#entries.set(text, entry);
    this.#lanes[kind].add(entry);
    return entry;
  }

  #takeFrom(lane: Set<Entry>, maxTokens: number): Entry[] {
    const batch: Entry[] = [];
    let tokens = 0;
    const late: Entry[] = [];
    const now = this.#options.now();
    for (const entry of lane) {
      // Running what nobody waits for any more would make the next ones late too.
      if (entry.deadlineAt < now) {
        late.push(entry);
        continue;
      }
      tokens += entry.cost;
      if (batch.length >= this.#options.maxBatchTexts || (batch.length > 0 && tokens > maxTokens)) break;
      entry.isRunning = true;
      batch.push(entry);
    }
    for (const entry of batch) lane.delete(entry);
    this.reject(late, new AgentReachError('AR_ERR_DEADLINE', { detail: 'The model was busy until it was too late.' }));
    return batch;
  }

  #release(waiting: WaitingText): Entry | undefined {
    const entry = this.#entries.get(waiting.text);
    if (entry === undefined || entry !== waiting) return undefined;
    this.#entries.delete(entry.text);
    this.#lanes[entry.kind].delete(entry);
    return entry;
  }
}

function newEntry(text: string, kind: TextKind, cost: number): Entry {
  let resolve: Entry['resolve'] = () => {};
  let reject: Entry['reject'] = () => {};
  const vector = new Promise<Float32Array>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { text, kind, cost, isRunning: false, deadlineAt: -Infinity, vector, resolve, reject };
}
