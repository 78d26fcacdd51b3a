/** Every key this service keeps in Redis. One hash tag, so that a script may touch all of them in a cluster. */
import type { TableName } from '../key-value-store.ts';

const PREFIX = '{agent-reach}:';

/** A hash: field = key of the row. */
export const tableKey = (table: TableName): string => `${PREFIX}table:${table}`;
/** A sorted set of the keys of a ranged table, all of one score: Redis keeps them in order of their bytes. */
export const orderKey = (table: TableName): string => `${tableKey(table)}:order`;
/** A string with a time to live: the token of the process that owns the tables. */
export const OWNER_KEY = `${PREFIX}owner`;
/** A number that rises with each owner; a commit that carries an older one is refused. */
export const FENCE_KEY = `${PREFIX}fence`;
