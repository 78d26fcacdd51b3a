/**
 * What the change feed had told at two positions of the log, the older one far enough back that a reader of before
 * finds its place, the newer one to take its place. Who starts later tells on from there.
 */
import { CHECKPOINT, type RedisLink, runScript } from '../../redis/index.ts';

export interface FeedCheckpoint {
  /** Of the last entry that was told. */
  readonly position: number;
  readonly told: string;
}

export class FeedCheckpoints {
  readonly #link: RedisLink;
  readonly #distance: number;
  #newest = Number.NEGATIVE_INFINITY;

  /** `distance`: entries from one to the next, under half of what the log keeps. */
  constructor(link: RedisLink, distance: number) {
    this.#link = link;
    this.#distance = distance;
  }

  /** The older one first. */
  async load(): Promise<FeedCheckpoint[]> {
    const { redis, keys } = this.#link;
    const [olderAt, older, newerAt, newer] = await redis.hmget(keys.told, 'olderAt', 'older', 'newerAt', 'newer');
    const all = [
      [olderAt, older],
      [newerAt, newer],
    ] as const;
    return all.flatMap(([at, told]) =>
      typeof at === 'string' && typeof told === 'string' ? { position: Number(at), told } : [],
    );
  }

  isDue(position: number): boolean {
    return position - this.#newest >= this.#distance;
  }

  async save({ position, told }: FeedCheckpoint): Promise<void> {
    const { keys } = this.#link;
    // Not twice while the first is under way.
    this.#newest = position;
    this.#newest = Number(await runScript(this.#link, CHECKPOINT, [keys.told], [position, told, this.#distance]));
  }
}
