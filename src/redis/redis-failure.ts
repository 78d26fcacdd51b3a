import { errorText } from '../core/index.ts';

/** What the client says of a connection that it has not got, or has lost. */
const NOT_CONNECTED = /^(Stream isn't writeable|Connection is closed|Reached the max retries)/;

/** What the client says of a command that never left it. */
const NOT_SENT = /^Stream isn't writeable/;

/** What a script answers that finds other data than it is meant for; of two words, or Redis puts ERR before it. */
export const OTHER_DATA_REPLY = 'OTHERDATA found';
export const OTHER_DATA = 'Redis holds other data than this instance has read: restore it, or start this one anew';

/** Why a command failed, in words: of Redis at `place`, which holds no password. */
export function redisFailure(place: string, error: unknown): string {
  const reason = errorText(error);
  if (reason === OTHER_DATA_REPLY) return OTHER_DATA;
  if (error instanceof Error && error.name === 'ReplyError') return `Redis at ${place} refused: ${reason}`;
  if (NOT_CONNECTED.test(reason)) return redisAway(place);
  return `Redis at ${place} is away: ${reason === 'Command timed out' ? 'it does not answer' : reason}; trying again`;
}

/** Whether a command that failed so may have been carried out, given that there was a connection when it was asked for. */
export function isUnanswered(error: unknown): boolean {
  const isReply = error instanceof Error && error.name === 'ReplyError';
  return !isReply && !NOT_SENT.test(errorText(error));
}

export function redisAway(place: string): string {
  return `Redis at ${place} is away: not connected; trying again`;
}
