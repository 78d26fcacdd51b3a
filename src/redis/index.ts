export { type BeatNote, BeatSender } from './beat-sender.ts';
export { REDIS_URL_FORM, readRedisAddress, redisAddress } from './redis-address.ts';
export { COMMAND_TIMEOUT_MS, connectRedis, type Redis, SILENCE_TIMEOUT_MS } from './redis-connection.ts';
export { DEFAULT_PREFIX, type RedisKeys, redisKeys } from './redis-keys.ts';
export type { RedisLink } from './redis-link.ts';
export { COMMIT, OPEN } from './redis-scripts.ts';
export { RedisTime } from './redis-time.ts';
export { SweeperElection } from './sweeper-election.ts';
