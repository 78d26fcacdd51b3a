import { errorText } from '../core/index.ts';

/** What the client says of a connection that it has not got, or has lost. */
const NOT_CONNECTED = /^(Stream isn't writeable|Connection is closed|Reached the max retries)/;

/** Why a command failed, in words: of Redis at `place`, which holds no password. */
export function redisFailure(place: string, error: unknown): string {
  const reason = errorText(error);
  if (error instanceof Error && error.name === 'ReplyError') return `Redis at ${place} refused: ${reason}`;
  if (NOT_CONNECTED.test(reason)) return redisAway(place);
  return `Redis at ${place} is away: ${reason === 'Command timed out' ? 'it does not answer' : reason}; trying again`;
}

export function redisAway(place: string): string {
  return `Redis at ${place} is away: not connected; trying again`;
}
