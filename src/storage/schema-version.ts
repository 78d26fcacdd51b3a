/** The store says which layout it was written in, so that another version of the service never guesses. */
import { type KeyValueStore, storeUnavailable } from './key-value-store.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';

/** Raised when the layout of a table changes so that older code would misread it. */
export const SCHEMA_VERSION = 1;
const KEY = 'schema';

/** Writes the version into a new store; refuses a store of another version. `place` names the store for the reader. */
export async function checkSchemaVersion(store: KeyValueStore, place: string): Promise<void> {
  const bytes = await store.get('meta', KEY);
  if (bytes === undefined) {
    await store.commit([{ table: 'meta', key: KEY, value: encodeRecord({ version: SCHEMA_VERSION }) }]);
    return;
  }
  const found = decodeRecord<{ version: number }>('meta', KEY, bytes, { version: 'number' });
  if (found?.version === SCHEMA_VERSION) return;
  const written = found === undefined ? 'an unreadable version' : `version ${found.version}`;
  throw storeUnavailable(
    `the store at ${place} is of ${written}, this service reads version ${SCHEMA_VERSION}: run the service that wrote it, or point it at an empty place and register the agents again`,
  );
}
