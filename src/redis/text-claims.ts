/**
 * Who embeds a text that several instances want at the same moment: the one that claims its hash. A claim is renewed
 * while the text is embedded and lapses by itself where its holder died, so that nobody waits for longer than that.
 */
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-script.ts';

/** How long others wait for an instance that died while it embedded. */
const TERM_MS = 3_000;
const RENEWALS_A_TERM = 3;
const MOST_A_SCRIPT = 1_000;

/** Claims each text that nobody holds; answers 1 or 0 for each. KEYS one a text. ARGV holder, milliseconds. */
const TAKE = `
local taken = {}
for i, key in ipairs(KEYS) do taken[i] = redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0 end
return taken`;

/** Keeps what is still the holder's. KEYS one a text. ARGV holder, milliseconds. */
const RENEW = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('PEXPIRE', key, ARGV[2]) end
end
return 1`;

/** KEYS one a text. ARGV holder. */
const RELEASE = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 1`;

export interface TextClaim<Hash extends string> {
  /** Of the texts asked for; the others are embedded by somebody else now. */
  readonly mine: readonly Hash[];
  /** Never rejects: what Redis does not hear lapses. */
  release(): Promise<void>;
}

export class TextClaims {
  readonly #link: RedisLink;
  #count = 0;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async take<Hash extends string>(fingerprint: string, hashes: readonly Hash[]): Promise<TextClaim<Hash>> {
    const { keys, instance, clock } = this.#link;
    // Of its own: two registrations of one instance do not embed the same text either.
    const holder = `${instance}/${++this.#count}`;
    const keyOf = (hash: Hash): string => keys.text(fingerprint, hash);
    const taken = await this.#run(TAKE, hashes.map(keyOf), [holder, TERM_MS]);
    const mine = hashes.filter((_, i) => taken[i] === 1);
    const held = mine.map(keyOf);
    let cancel = (): void => undefined;
    const renew = (): void => {
      cancel = clock.schedule(TERM_MS / RENEWALS_A_TERM, () => {
        this.#run(RENEW, held, [holder, TERM_MS]).catch(() => undefined);
        renew();
      });
    };
    if (held.length > 0) renew();
    return {
      mine,
      release: async () => {
        cancel();
        await this.#run(RELEASE, held, [holder]).catch(() => undefined);
      },
    };
  }

  async #run(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<number[]> {
    const answers: number[] = [];
    for (let from = 0; from < keys.length; from += MOST_A_SCRIPT) {
      const some = keys.slice(from, from + MOST_A_SCRIPT);
      const answer = await runScript(this.#link, script, some, args);
      if (Array.isArray(answer)) answers.push(...(answer as number[]));
    }
    return answers;
  }
}
