/**
 * The instances that run over one Redis, as each says of itself every few seconds, and which embedding models they
 * run. By Redis's own clock; who says nothing for long is forgotten.
 */
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-script.ts';

const FORGOTTEN_AFTER_MS = 60_000;
const MODEL_FORGOTTEN_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * Writes what the instance says, forgets who is silent; answers instances (id, milliseconds ago, note), then models
 * (fingerprint, milliseconds ago). KEYS instances, models. ARGV instance, note, fingerprint, milliseconds until an
 * instance and until a model is forgotten.
 */
const TELL = `
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', nowMs) .. ' ' .. ARGV[2])
redis.call('ZADD', KEYS[2], nowMs, ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', nowMs - ARGV[5])
local found = redis.call('HGETALL', KEYS[1])
local instances = {}
for i = 1, #found, 2 do
  local at, note = string.match(found[i + 1], '^(%d+) (.*)$')
  local ago = nowMs - tonumber(at)
  if ago > tonumber(ARGV[4]) then redis.call('HDEL', KEYS[1], found[i])
  else instances[#instances + 1] = { found[i], ago, note } end
end
local models = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
local seen = {}
for i = 1, #models, 2 do seen[#seen + 1] = { models[i], nowMs - tonumber(models[i + 1]) } end
return { instances, seen }`;

export interface Presence {
  readonly instances: readonly { readonly instance: string; readonly agoMs: number; readonly note: string }[];
  readonly models: readonly { readonly fingerprint: string; readonly agoMs: number }[];
}

export class InstancePresence {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Says it, and hears what the others said last. */
  async tell(fingerprint: string, note: string): Promise<Presence> {
    const { keys, instance } = this.#link;
    const limits = [FORGOTTEN_AFTER_MS, MODEL_FORGOTTEN_AFTER_MS];
    const answer = await runScript(
      this.#link,
      TELL,
      [keys.instances, keys.models],
      [instance, note, fingerprint, ...limits],
    );
    const [instances, models] = answer as [[string, number, string][], [string, number][]];
    return {
      instances: instances.map(([id, agoMs, said]) => ({ instance: id, agoMs, note: said })),
      models: models.map(([model, agoMs]) => ({ fingerprint: model, agoMs })),
    };
  }

  /** Never rejects: what Redis does not hear is forgotten by itself. */
  async leave(): Promise<void> {
    const { redis, keys, instance } = this.#link;
    await redis.hdel(keys.instances, instance).catch(() => undefined);
  }
}
