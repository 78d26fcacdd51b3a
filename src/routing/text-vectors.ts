import {
  AgentReachError,
  type Clock,
  type ContentHash,
  errorText,
  isAgentReachError,
  log,
  publish,
} from '../core/index.ts';
import type { Embedder } from '../embedding/index.ts';
import type { LayeredIndex } from '../vector-index/index.ts';
import { embeddedForm } from './indexed-capability.ts';
import type { VectorStore } from './vector-store.ts';

/** Says which instance embeds a text that several want at the same moment. */
export interface TextClaiming {
  /** `mine`: nobody else embeds these until `release`, or until this process dies. The others somebody embeds now. */
  take(
    fingerprint: string,
    hashes: readonly ContentHash[],
  ): Promise<{ readonly mine: readonly ContentHash[]; release(): Promise<void> }>;
}

export interface TextVectorsOptions {
  readonly clock: Clock;
  readonly embedder: Embedder;
  readonly vectorStore: VectorStore;
  readonly vectors: LayeredIndex;
  /** Absent where this instance has the store to itself. */
  readonly textClaims?: TextClaiming | undefined;
  /** The text behind a hash, while some capability needs it. */
  readonly textOf: (hash: ContentHash) => string | undefined;
  /** Called when vectors arrived that were missing. */
  readonly onFilled: () => void;
}

/** Errors of the embedder that a wait for the model cures; everything else is passed on. */
export function isModelOutage(error: unknown): boolean {
  return isAgentReachError(error) && OUTAGES.has(error.code);
}

/** A deadline that passed while the text waited for its turn: the model is there, and answered too late all the same. */
const OUTAGES: ReadonlySet<string> = new Set(['AR_ERR_MODEL_UNUSABLE', 'AR_ERR_NOT_READY', 'AR_ERR_DEADLINE']);

/** How long a prepared text is kept for a registration that was not applied: that failed, or was overtaken. */
const PIN_MS = 300_000;
/** Texts handed to the embedder at once while filling; keeps the rest of its queue free for registrations. */
const FILL_CHUNK = 256;
/** Vectors read from the store between two turns of the event loop. */
const LOAD_CHUNK = 2_048;
const RETRY_MS = 5_000;
/** Between two looks for a vector that another instance makes. */
const POLL_MS = 50;
/** Longest wait for it: a registration had better embed a text twice than wait for ever. */
const MAX_WAIT_MS = 15_000;

/**
 * Sees to it that every text has its vector, and that none is embedded twice: from the index, else from the store,
 * else from the embedder (and then into the store, before the index). What a degraded model leaves missing is filled
 * when it heals.
 */
export class TextVectors {
  readonly #options: TextVectorsOptions;
  readonly #missing = new Set<ContentHash>();
  /** Texts that must stay in the index although no capability owns them yet, and for how many registrations. */
  readonly #pins = new Map<string, { registrations: number; until: number }>();
  #isStarted = false;
  #filling: Promise<{ embedded: number; reused: number }> | undefined;
  #cancelRetry: (() => void) | undefined;
  #stopped = false;
  readonly #unsubscribe: () => void;

  constructor(options: TextVectorsOptions) {
    this.#options = options;
    this.#unsubscribe = options.embedder.onHealth((health) => {
      if (health.state === 'ready') this.fillInBackground();
    });
  }

  get missing(): number {
    return this.#missing.size;
  }

  addMissing(hash: ContentHash): void {
    this.#missing.add(hash);
  }

  isPinned(hash: string): boolean {
    return this.#pins.has(hash);
  }

  /** Keeps these texts until as many registrations are applied as pinned them, or `PIN_MS` after the last of them. */
  pin(hashes: Iterable<ContentHash>): void {
    const until = this.#options.clock.now() + PIN_MS;
    for (const hash of hashes) {
      this.#pins.set(hash, { registrations: (this.#pins.get(hash)?.registrations ?? 0) + 1, until });
    }
  }

  /** After the capability owns the text: without this every text ever said would stay searchable for `PIN_MS`. */
  unpin(hash: ContentHash): void {
    const pin = this.#pins.get(hash);
    if (pin === undefined) return;
    if (pin.registrations === 1) this.#pins.delete(hash);
    else pin.registrations--;
  }

  dropOldPins(): void {
    const now = this.#options.clock.now();
    for (const [hash, { until }] of this.#pins) if (until <= now) this.#pins.delete(hash);
  }

  /** Vectors for all of these texts, in the index and in the store. Errors: those of the embedder and the store. */
  async ensure(texts: ReadonlyMap<ContentHash, string>): Promise<{ embedded: number; reused: number }> {
    const absent = [...texts.keys()].filter((hash) => !this.#options.vectors.has(hash));
    if (absent.length === 0) return { embedded: 0, reused: 0 };
    const { clock } = this.#options;
    const giveUpAt = clock.now() + MAX_WAIT_MS;
    let wanted = await this.#takeStored(absent);
    let embedded = 0;
    while (wanted.length > 0) {
      const { mine, release } = await this.#claim(wanted, clock.now() >= giveUpAt);
      try {
        // Of who had a claim before, and was done with it.
        const fresh = this.#options.textClaims === undefined ? mine : await this.#takeStored(mine);
        if (fresh.length > 0) await this.#embed(fresh, texts);
        embedded += fresh.length;
      } finally {
        await release();
      }
      const isMine = new Set(mine);
      wanted = await this.#takeStored(wanted.filter((hash) => !isMine.has(hash)));
      if (wanted.length > 0 && mine.length === 0) await this.#pause();
    }
    for (const hash of absent) this.#missing.delete(hash);
    return { embedded, reused: absent.length - embedded };
  }

  /** Takes what the store has; what is left is embedded in the background. Before this nothing is filled. */
  async start(): Promise<void> {
    const { embedder, vectorStore, vectors } = this.#options;
    const wanted = [...this.#missing];
    for (let i = 0; i < wanted.length; i += LOAD_CHUNK) {
      const stored = await vectorStore.getMany(embedder.info.fingerprint, wanted.slice(i, i + LOAD_CHUNK));
      for (const [hash, vector] of stored) {
        vectors.upsert(hash, vector);
        this.#missing.delete(hash);
      }
    }
    this.#isStarted = true;
    this.fillInBackground();
  }

  fillInBackground(): void {
    if (this.#missing.size === 0 || this.#stopped || !this.#isStarted) return;
    this.fill().catch((error: unknown) => {
      log('warn', 'texts wait for their vectors', { missing: this.#missing.size, reason: errorText(error) });
      this.#cancelRetry?.();
      this.#cancelRetry = this.#options.clock.schedule(RETRY_MS, () => this.fillInBackground());
    });
  }

  /** Fills what is missing; while the model is degraded it stops early, and goes on when the model heals. */
  fill(): Promise<{ embedded: number; reused: number }> {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
    this.#unsubscribe();
  }

  /** Into the index what the store has of these; answers the rest. */
  async #takeStored(hashes: readonly ContentHash[]): Promise<readonly ContentHash[]> {
    if (hashes.length === 0) return hashes;
    const { embedder, vectorStore, vectors } = this.#options;
    const stored = await vectorStore.getMany(embedder.info.fingerprint, hashes);
    for (const [hash, vector] of stored) vectors.upsert(hash, vector);
    return hashes.filter((hash) => !stored.has(hash));
  }

  async #embed(hashes: readonly ContentHash[], texts: ReadonlyMap<ContentHash, string>): Promise<void> {
    const { embedder, vectorStore, vectors } = this.#options;
    const embedded = await embedder.embed(
      hashes.map((hash) => embeddedForm(texts.get(hash) ?? '')),
      { kind: 'document' },
    );
    publish('step', { name: 'rebuild.texts_embedded' });
    const made = new Map<ContentHash, Float32Array>();
    for (const [i, hash] of hashes.entries()) {
      const vector = embedded[i];
      if (vector !== undefined) made.set(hash, vector);
    }
    const kept = await vectorStore.putMany(embedder.info.fingerprint, made);
    publish('step', { name: 'rebuild.vectors_stored' });
    for (const [hash, vector] of kept) vectors.upsert(hash, vector);
  }

  /** All of them where nobody else may embed, where claims cannot be made, and after too long a wait. */
  async #claim(hashes: readonly ContentHash[], isLate: boolean): ReturnType<TextClaiming['take']> {
    const all = { mine: hashes, release: async () => undefined };
    const { textClaims, embedder } = this.#options;
    if (textClaims === undefined || isLate) return all;
    return textClaims.take(embedder.info.fingerprint, hashes).catch(() => all);
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => void this.#options.clock.schedule(POLL_MS, resolve));
    if (this.#stopped) throw new AgentReachError('AR_ERR_STOPPING');
  }

  async #fill(): Promise<{ embedded: number; reused: number }> {
    const sum = { embedded: 0, reused: 0 };
    try {
      while (this.#missing.size > 0 && !this.#stopped) {
        const texts = this.#nextChunk();
        if (texts.size === 0) continue;
        const part = await this.ensure(texts);
        sum.embedded += part.embedded;
        sum.reused += part.reused;
        for (const hash of texts.keys()) this.#missing.delete(hash);
      }
    } catch (error) {
      if (!isModelOutage(error)) throw error;
    } finally {
      if (sum.embedded + sum.reused > 0) this.#options.onFilled();
    }
    return sum;
  }

  #nextChunk(): Map<ContentHash, string> {
    const texts = new Map<ContentHash, string>();
    for (const hash of this.#missing) {
      const text = this.#options.textOf(hash);
      if (text === undefined || this.#options.vectors.has(hash)) this.#missing.delete(hash);
      else if (texts.size < FILL_CHUNK) texts.set(hash, text);
      else break;
    }
    return texts;
  }
}
