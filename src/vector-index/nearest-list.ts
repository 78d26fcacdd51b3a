import type { Neighbor } from './vector-index.ts';

/**
 * The best `capacity` of the neighbours offered so far: by similarity, equal ones by id. An offer below the worst kept
 * one costs a single comparison; `floor` lets a caller skip even the call.
 */
export class NearestList {
  readonly #capacity: number;
  readonly #kept: Neighbor[] = [];
  /** Nothing below this can enter any more; equal may, by its id. */
  floor = Number.NEGATIVE_INFINITY;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  offer(id: string, similarity: number): void {
    const kept = this.#kept;
    let low = 0;
    let high = kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isNearer(kept[middle] as Neighbor, id, similarity)) low = middle + 1;
      else high = middle;
    }
    if (low >= this.#capacity) return;
    if (kept.length === this.#capacity) kept.pop();
    kept.splice(low, 0, { id, similarity });
    if (kept.length === this.#capacity) this.floor = (kept[kept.length - 1] as Neighbor).similarity;
  }

  /** Best first. The list must not be used after this. */
  take(): Neighbor[] {
    return this.#kept;
  }
}

function isNearer(kept: Neighbor, id: string, similarity: number): boolean {
  return kept.similarity > similarity || (kept.similarity === similarity && kept.id < id);
}
