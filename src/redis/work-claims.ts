/**
 * Work that one instance does for all: whoever claims it gets a number above that of any before, renews the
 * claim while it works, and loses it by itself where it dies or stalls. A claim taken by force ends that of another,
 * which hears of it at its next renewal; what it stores meanwhile under its lower number is to be refused.
 */
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-script.ts';

const DEFAULT_TERM_MS = 5_000;
const RENEWALS_A_TERM = 5;

/**
 * Answers the number of the claim, 0 where another one holds the work. KEYS work, workFence. ARGV holder,
 * milliseconds, a number to be above, 1 to take it from whoever holds it.
 */
const TAKE = `
if ARGV[4] ~= '1' and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local fence = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[3])) + 1
redis.call('SET', KEYS[2], fence)
return fence`;

/** KEYS work. ARGV holder, milliseconds. */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** KEYS work. ARGV holder. */
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

export interface WorkClaim {
  /** Above that of every claim before. */
  readonly fence: number;
  /** Aborted once the claim is lost, or may be. */
  readonly lost: AbortSignal;
  /** Asks Redis whether the claim still holds. */
  confirm(): Promise<boolean>;
  /** Never rejects: what Redis does not hear lapses. */
  release(): Promise<void>;
}

export interface TakeOptions {
  /** The number is to be above this one too. */
  readonly above?: number;
  /** Take it from whoever holds it. */
  readonly byForce?: boolean;
}

export class WorkClaims {
  readonly #link: RedisLink;
  readonly #termMs: number;
  #count = 0;

  constructor(link: RedisLink, { termMs = DEFAULT_TERM_MS }: { readonly termMs?: number } = {}) {
    this.#link = link;
    this.#termMs = termMs;
  }

  /** undefined where another instance does it. */
  async take(work: string, { above = 0, byForce = false }: TakeOptions = {}): Promise<WorkClaim | undefined> {
    const { keys, instance, clock } = this.#link;
    const holder = `${instance}/${++this.#count}`;
    const names = [keys.work(work), keys.workFence(work)];
    const askedAt = clock.now();
    const fence = Number(await runScript(this.#link, TAKE, names, [holder, this.#termMs, above, byForce ? 1 : 0]));
    return fence === 0 ? undefined : this.#held(keys.work(work), holder, { fence, askedAt });
  }

  async isTaken(work: string): Promise<boolean> {
    const { redis, keys } = this.#link;
    return (await redis.exists(keys.work(work))) === 1;
  }

  #held(key: string, holder: string, { fence, askedAt }: { fence: number; askedAt: number }): WorkClaim {
    const { clock } = this.#link;
    const ending = new AbortController();
    let until = askedAt + this.#termMs;
    let cancel = (): void => undefined;
    const confirm = async (): Promise<boolean> => {
      if (ending.signal.aborted) return false;
      const renewedAt = clock.now();
      if (Number(await runScript(this.#link, RENEW, [key], [holder, this.#termMs])) === 1)
        until = renewedAt + this.#termMs;
      else ending.abort();
      return !ending.signal.aborted;
    };
    const renew = (): void => {
      cancel = clock.schedule(this.#termMs / RENEWALS_A_TERM, () => {
        // By our own clock: Redis may be away, or this process was stopped.
        if (clock.now() >= until) return ending.abort();
        confirm().catch(() => undefined);
        renew();
      });
    };
    renew();
    return {
      fence,
      lost: ending.signal,
      confirm,
      release: async () => {
        cancel();
        await runScript(this.#link, RELEASE, [key], [holder]).catch(() => undefined);
      },
    };
  }
}
