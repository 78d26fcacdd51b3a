/**
 * What time it is at Redis, as the newest answer told: never behind it, and ahead by no more than that answer took. So
 * that what is sent now can say until when it counts.
 */
export class RedisTime {
  #aheadMs: number | undefined;

  /** `askedAt` and `now` are of a clock that never goes back. */
  learn(redisMs: number, askedAt: number): void {
    this.#aheadMs = redisMs - askedAt;
  }

  /** As an argument of a script: '' until the first answer. */
  in(ms: number, now: number): number | '' {
    return this.#aheadMs === undefined ? '' : Math.ceil(now + this.#aheadMs + ms);
  }
}
