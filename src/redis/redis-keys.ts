/**
 * Every key this service keeps in Redis. One hash tag, so that a script may touch all of them in a cluster; another
 * prefix is another service in the same database.
 */
export const DEFAULT_PREFIX = 'agent-reach';

export interface RedisKeys {
  /** A string: which data this is. Made with the first start; another one, or none, is other data. */
  readonly logId: string;
  /** A number: the position of the newest entry of the log. */
  readonly position: string;
  /** A stream, id `<position>-0`: every commit of the tables that all instances hold in memory, in order. */
  readonly changes: string;
  /** A sorted set: the rows that changed last, by the position of that. */
  readonly recent: string;
  /** A number: the highest position that `recent` has forgotten. */
  readonly recentFloor: string;
  /** A short stream: batches of heartbeats. */
  readonly beats: string;
  /** A sorted set: when each agent's lease runs out, in Redis's own epoch milliseconds. */
  readonly deadlines: string;
  /** A hash: the newest lease of agents that beat, as read from their rows; made anew where it lacks one. */
  readonly leases: string;
  /** A hash: what the change feed had told at two positions of the log. */
  readonly told: string;
  /** A string with a time to live: the instance that watches the leases. */
  readonly sweeper: string;
  /** A number that rises with each sweeper; what an older one ends is refused. */
  readonly fence: string;
  /** A hash: what each running instance says of itself. */
  readonly instances: string;
  /** A sorted set: embedding models by when an instance ran them last, in Redis's own epoch milliseconds. */
  readonly models: string;
  /** A string with a time to live: the instance that does this work for all. */
  work(name: string): string;
  /** A number that rises with each claim of that work. */
  workFence(name: string): string;
  /** A string with a time to live: the instance that embeds this text. */
  text(fingerprint: string, hash: string): string;
  /** A hash: field = key of the row. */
  table(name: string): string;
  /** A sorted set of the keys of a ranged table, all of one score: Redis keeps them in order of their bytes. */
  order(name: string): string;
}

export function redisKeys(prefix = DEFAULT_PREFIX): RedisKeys {
  const key = (name: string): string => `{${prefix}}:${name}`;
  return {
    logId: key('log-id'),
    position: key('position'),
    changes: key('changes'),
    recent: key('recent'),
    recentFloor: key('recent-floor'),
    beats: key('beats'),
    told: key('told'),
    deadlines: key('deadlines'),
    leases: key('leases'),
    sweeper: key('sweeper'),
    fence: key('fence'),
    instances: key('instances'),
    models: key('models'),
    work: (name) => key(`work:${name}`),
    workFence: (name) => key(`work:${name}:fence`),
    text: (fingerprint, hash) => key(`text:${fingerprint}/${hash}`),
    table: (name) => key(`table:${name}`),
    order: (name) => key(`table:${name}:order`),
  };
}
