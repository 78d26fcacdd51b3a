import { AgentReachError, type ContentHash, errorText, log } from '../core/index.ts';
import type { VersionStore } from '../vector-index/index.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import type { SharedNeeds } from './shared/shared-needs.ts';
import type { VectorStore } from './vector-store.ts';

export interface VectorPrunerOptions {
  /** Of the model that runs. */
  readonly fingerprint: string;
  readonly vectorStore: VectorStore;
  readonly versions: VersionStore;
  readonly indexer: CapabilityIndexer;
  /** What other instances need; absent where this one has the store to itself. */
  readonly shared?: SharedNeeds | undefined;
}

/**
 * Keeps the stored vectors from growing with every text that was ever said: those stay that a capability needs, that
 * a registration under way is about to need, or that a kept index version has, so that a rollback embeds nothing.
 * Vectors of another model stay for its kept versions alone, and where an instance runs it, for what is registered.
 * One run at a time, beside everything else; a run that fails is logged, and the next rebuild brings another.
 */
export class VectorPruner {
  readonly #options: VectorPrunerOptions;
  #running: Promise<void> | undefined;

  constructor(options: VectorPrunerOptions) {
    this.#options = options;
  }

  start(): void {
    const { shared } = this.#options;
    const run = (): Promise<void> => this.#prune();
    this.#running ??= (shared === undefined ? run() : shared.alone(run))
      .catch((error: unknown) => {
        log('warn', 'vectors that nobody needs stay until the next rebuild', { reason: errorText(error) });
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when no run is under way. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #prune(): Promise<void> {
    const { fingerprint, vectorStore, indexer, shared } = this.#options;
    const inVersions = await (shared?.hashesOfVersions() ?? this.#hashesOfVersions());
    const running = (await shared?.running()) ?? new Set([fingerprint]);
    const removed = await vectorStore.prune((model: string, hash: ContentHash) => {
      return (running.has(model) && indexer.needs(hash)) || inVersions.get(model)?.has(hash) === true;
    });
    if (removed > 0) log('info', 'vectors that nobody needs were removed', { removed });
  }

  /**
   * By fingerprint. A version that cannot be read ends the run: it may be read again, by hand repaired or from a disk
   * that comes back, and then what only it protected would be gone. It is in nobody's way for long: three later
   * versions remove it.
   */
  async #hashesOfVersions(): Promise<Map<string, ReadonlySet<string>>> {
    const { versions } = this.#options;
    const hashes = new Map<string, Set<string>>();
    for (const { id, info, problem } of await versions.list()) {
      if (info === undefined) throw new AgentReachError('AR_ERR_INDEX_CORRUPT', { detail: `${id}: ${problem}` });
      const known = hashes.get(info.fingerprint) ?? new Set();
      hashes.set(info.fingerprint, known);
      for await (const ids of versions.idsOf(id)) for (const hash of ids) known.add(hash);
    }
    return hashes;
  }
}
