/**
 * What time it is at Redis, so that what is sent now can say until when it counts. Each answer was made between when it
 * was asked for and when it came; the quickest ones together tell the time to about a millisecond.
 */
export class RedisTime {
  /** By how much Redis's clock is ahead of ours, at the least and at the most. */
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;

  /** `askedAt` and `answeredAt` are of a clock that never goes back; `redisMs` are whole milliseconds that are over. */
  learn(redisMs: number, askedAt: number, answeredAt: number): void {
    const least = redisMs - answeredAt;
    const most = redisMs + 1 - askedAt;
    // Where they contradict each other a clock was set, or has drifted: the newest is right.
    const isMoved = least > this.#most || most < this.#least;
    this.#least = isMoved ? least : Math.max(this.#least, least);
    this.#most = isMoved ? most : Math.min(this.#most, most);
  }

  /** As an argument of a script, never before it is that time there: '' until the first answer. */
  in(ms: number, now: number): number | '' {
    return this.#most === Number.POSITIVE_INFINITY ? '' : Math.ceil(now + this.#most + ms);
  }
}
