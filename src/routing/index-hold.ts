import type { IndexHeld } from '../contract/index.ts';

/** That a rollback is in force, and what agents said of each capability at that moment. */
export interface IndexHold {
  readonly version: string;
  /** Epoch ms. */
  readonly heldAt: number;
  readonly by: string;
  /** Meaning hash by `namespace/name`: who says something else now is not held. */
  readonly liveHashes: Readonly<Record<string, string>>;
}

/** Error: AR_ERR_STORE_UNAVAILABLE. */
export interface IndexHoldStore {
  load(): Promise<IndexHold | undefined>;
  /** Durable when resolved; null ends the hold. */
  save(hold: IndexHold | null): Promise<void>;
}

/** The hold in force, in memory as on the disk. */
export class IndexHolder {
  readonly #store: IndexHoldStore;
  #current: IndexHold | null = null;

  constructor(store: IndexHoldStore) {
    this.#store = store;
  }

  get current(): IndexHold | null {
    return this.#current;
  }

  async load(): Promise<IndexHold | null> {
    this.#current = (await this.#store.load()) ?? null;
    return this.#current;
  }

  async take(hold: IndexHold): Promise<void> {
    await this.#store.save(hold);
    this.#current = hold;
  }

  /** Another instance took it, or ended it. */
  follow(hold: IndexHold | null): void {
    this.#current = hold;
  }

  async end(): Promise<void> {
    if (this.#current === null) return;
    await this.#store.save(null);
    this.#current = null;
  }

  wire(): IndexHeld | null {
    if (this.#current === null) return null;
    const { version, heldAt, by } = this.#current;
    return { version, heldAt: new Date(heldAt).toISOString(), by };
  }
}
