import { LRUCache } from 'lru-cache';
import type { CacheOutcome } from '../contract/index.ts';
import type { Clock } from '../core/index.ts';

export interface Loaded<Value> {
  readonly value: Value;
  /** False for answers that must not outlive their request: sensitive or made while degraded. */
  readonly cacheable: boolean;
}

/**
 * One minute of what intents *mean*, never of who takes the work. A stamp (versions of index and rules) stands for
 * everything that a meaning was made from: a new stamp empties the cache, and a meaning that was under way under an
 * older stamp is answered but not kept. Concurrent misses of one key load once.
 */
export class RouteCache<Value extends object> {
  /** Undefined where nothing is to be kept. */
  readonly #entries: LRUCache<string, Value> | undefined;
  #loading = new Map<string, Promise<Loaded<Value>>>();
  #stamp = '';

  constructor(options: { readonly clock: Clock; readonly ttlMs: number; readonly maxEntries: number }) {
    // To the library a limit or a time of 0 means "without end"; here it means "keep nothing".
    if (options.maxEntries === 0 || options.ttlMs === 0) return;
    this.#entries = new LRUCache<string, Value>({
      max: options.maxEntries,
      ttl: options.ttlMs,
      // Read at every look-up, so that a clock turned by hand is seen at once.
      ttlResolution: 0,
      // Zero would mean "no time" to the library.
      perf: { now: () => options.clock.now() + 1 },
    });
  }

  get(stamp: string, key: string): Value | undefined {
    this.#use(stamp);
    return this.#entries?.get(key);
  }

  async load(
    stamp: string,
    key: string,
    loader: () => Promise<Loaded<Value>>,
  ): Promise<{ value: Value; outcome: CacheOutcome }> {
    this.#use(stamp);
    const running = this.#loading.get(key);
    if (running !== undefined) return { value: (await running).value, outcome: 'coalesced' };
    const loading = this.#loading;
    const promise = loader();
    loading.set(key, promise);
    try {
      const loaded = await promise;
      if (loaded.cacheable && this.#stamp === stamp) this.#entries?.set(key, loaded.value);
      return { value: loaded.value, outcome: loaded.cacheable ? 'miss' : 'bypass' };
    } finally {
      loading.delete(key);
    }
  }

  #use(stamp: string): void {
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#entries?.clear();
    // Loads under way go on for those who wait, but nobody joins them: they may miss what just changed.
    this.#loading = new Map();
  }
}
