import type { LexicalHit, LexicalIndex } from '../lexical-index/index.ts';
import type { IndexedCapability } from './indexed-capability.ts';

/** The capabilities of one namespace: by name, by alias, and by their words. */
export class CapabilitySpace {
  readonly #entries = new Map<string, IndexedCapability>();
  /** Canonical alias -> names that claim it; an alias of two capabilities names neither. */
  readonly #aliases = new Map<string, Set<string>>();
  readonly #lexical: LexicalIndex;
  #textCount = 0;

  constructor(lexical: LexicalIndex) {
    this.#lexical = lexical;
  }

  get size(): number {
    return this.#entries.size;
  }

  get textCount(): number {
    return this.#textCount;
  }

  get(name: string): IndexedCapability | undefined {
    return this.#entries.get(name);
  }

  entries(): IterableIterator<IndexedCapability> {
    return this.#entries.values();
  }

  names(): IterableIterator<string> {
    return this.#entries.keys();
  }

  put(entry: IndexedCapability): void {
    this.delete(entry.name);
    this.#entries.set(entry.name, entry);
    this.#textCount += entry.texts.length;
    for (const alias of entry.aliases) {
      const claimants = this.#aliases.get(alias);
      if (claimants === undefined) this.#aliases.set(alias, new Set([entry.name]));
      else claimants.add(entry.name);
    }
    this.#lexical.upsert(entry.document);
  }

  delete(name: string): IndexedCapability | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    this.#textCount -= entry.texts.length;
    for (const alias of entry.aliases) {
      const claimants = this.#aliases.get(alias);
      claimants?.delete(name);
      if (claimants?.size === 0) this.#aliases.delete(alias);
    }
    this.#lexical.remove(name);
    return entry;
  }

  /** The capability that a canonical text names outright: by its name, or by an alias that no other one claims. */
  named(canonical: string): { entry: IndexedCapability; by: 'name' | 'alias' } | undefined {
    const entry = this.#entries.get(canonical);
    if (entry !== undefined) return { entry, by: 'name' };
    const claimants = this.#aliases.get(canonical);
    if (claimants?.size !== 1) return undefined;
    for (const name of claimants) {
      const claimed = this.#entries.get(name);
      if (claimed !== undefined) return { entry: claimed, by: 'alias' };
    }
    return undefined;
  }

  searchWords(canonical: string, topK: number): { entry: IndexedCapability; hit: LexicalHit }[] {
    const found: { entry: IndexedCapability; hit: LexicalHit }[] = [];
    for (const hit of this.#lexical.search(canonical, topK)) {
      const entry = this.#entries.get(hit.id);
      if (entry !== undefined) found.push({ entry, hit });
    }
    return found;
  }
}
