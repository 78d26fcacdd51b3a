export { type BeatNote, BeatSender } from './beat-sender.ts';
export { COMMAND_TIMEOUT_MS, connectRedis, placeOf, type Redis } from './redis-connection.ts';
export { DEFAULT_PREFIX, type RedisKeys, redisKeys } from './redis-keys.ts';
export type { RedisLink } from './redis-link.ts';
export { COMMIT, OPEN } from './redis-scripts.ts';
export { SweeperElection } from './sweeper-election.ts';
