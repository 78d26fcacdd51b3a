/**
 * One phrase head a namespace, kept in step with its phrases: trained in the background once changes have been quiet
 * for `quietMs`, swapped in as a whole, used only where it wins its cross-validation. Until then, and when a training
 * fails, the head before answers; a capability that it did not learn is judged by other evidence.
 */
import { type Clock, type ContentHash, errorText, log } from '../../core/index.ts';
import type { CapabilitySpace } from '../capability-space.ts';
import type { IndexedCapability } from '../indexed-capability.ts';
import { MIN_PHRASES, type PhraseClass, PhraseHead } from './phrase-head.ts';
import type { TrainedHead } from './phrase-head-worker.ts';

/** Where a recall finds the head of a namespace. */
export interface HeadSource {
  headFor(namespace: string): PhraseHead | undefined;
  stop(): void;
}

export interface PhraseHeadsOptions {
  readonly clock: Clock;
  readonly indexer: {
    readonly revision: number;
    space(namespace: string): CapabilitySpace | undefined;
    vectorOf(hash: ContentHash): Float32Array | undefined;
    /** Called when another head answers: what was recalled before is out of date. */
    noteSwap(): void;
  };
  readonly trainer: { train(classes: readonly PhraseClass[]): Promise<TrainedHead>; stop(): void };
  readonly quietMs?: number;
}

interface Kept {
  head: PhraseHead | undefined;
  /** Digest of the phrases that were last trained on, or are being. */
  phrases: string;
  revision: number;
  cancel: (() => void) | undefined;
}

const QUIET_MS = 2_000;

export class PhraseHeads implements HeadSource {
  readonly #options: PhraseHeadsOptions;
  readonly #kept = new Map<string, Kept>();
  #isStopped = false;

  constructor(options: PhraseHeadsOptions) {
    this.#options = options;
  }

  headFor(namespace: string): PhraseHead | undefined {
    let kept = this.#kept.get(namespace);
    if (kept === undefined) {
      kept = { head: undefined, phrases: '', revision: -1, cancel: undefined };
      this.#kept.set(namespace, kept);
    }
    if (kept.revision !== this.#options.indexer.revision) this.#schedule(namespace, kept);
    return kept.head;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cancel } of this.#kept.values()) cancel?.();
    this.#options.trainer.stop();
  }

  #schedule(namespace: string, kept: Kept): void {
    if (this.#isStopped) return;
    kept.revision = this.#options.indexer.revision;
    kept.cancel?.();
    kept.cancel = this.#options.clock.schedule(this.#options.quietMs ?? QUIET_MS, () => {
      void this.#train(namespace, kept);
    });
  }

  async #train(namespace: string, kept: Kept): Promise<void> {
    const { indexer, trainer } = this.#options;
    const learnable = this.#learnable(namespace);
    const phrases = learnable.map(({ entry }) => entry.texts.map(({ kind, hash }) => kind + hash).join()).join('\n');
    if (phrases === kept.phrases) return;
    kept.phrases = phrases;
    try {
      const trained = learnable.length < 2 ? undefined : await trainer.train(learnable.map(({ known }) => known));
      // Phrases may have changed meanwhile; the training that this started swaps its own head in.
      if (this.#isStopped || kept.phrases !== phrases) return;
      kept.head = trained?.weights === undefined ? undefined : new PhraseHead(trained.weights);
      indexer.noteSwap();
      // The swap is no change of phrases.
      kept.revision = indexer.revision;
      if (trained !== undefined) {
        const { head, nearest } = trained.score;
        log('info', 'a phrase head was trained', { namespace, used: kept.head !== undefined, head, nearest });
      }
    } catch (error) {
      if (!this.#isStopped) log('warn', 'a phrase head could not be trained', { namespace, reason: errorText(error) });
    }
  }

  #learnable(namespace: string): { readonly entry: IndexedCapability; readonly known: PhraseClass }[] {
    const entries = [...(this.#options.indexer.space(namespace)?.entries() ?? [])];
    return entries
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const of = (...kinds: readonly string[]): Float32Array[] =>
          entry.texts
            .filter(({ kind }) => kinds.includes(kind))
            .flatMap(({ hash }) => this.#options.indexer.vectorOf(hash) ?? []);
        const phrases = of('example', 'alias');
        const known = { name: entry.name, phrases, anchors: of('name', 'description') };
        return phrases.length < MIN_PHRASES ? [] : [{ entry, known }];
      });
  }
}
