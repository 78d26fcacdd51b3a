/**
 * Vectors over any key-value store, as little-endian Float32 under `<fingerprint>/<hash>`: 4 bytes a dimension and
 * bit for bit what was put.
 */
import { randomUUID } from 'node:crypto';
import { endianness } from 'node:os';
import { type ContentHash, log, retryOnConflict } from '../core/index.ts';
import type { VectorStore } from '../routing/index.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';
import { encodeRecord } from './record-codec.ts';
import type { LoggedWrite } from './shared-log.ts';

/** Row of the table `meta` that changes with each removal; the note of its entry in the log says of what. */
const REMOVED_KEY = 'vectors_removed';
const isBigEndian = endianness() === 'BE';

export class KeyValueVectorStore implements VectorStore {
  readonly #store: KeyValueStore;
  readonly #isShared: boolean;

  /** `isShared`: others are told what is removed, so that whoever needs it can put it back. */
  constructor(store: KeyValueStore, { isShared = false }: { readonly isShared?: boolean } = {}) {
    this.#store = store;
    this.#isShared = isShared;
  }

  async getMany(fingerprint: string, hashes: readonly ContentHash[]): Promise<Map<ContentHash, Float32Array>> {
    return (await this.#read(fingerprint, hashes)).vectors;
  }

  async putMany(
    fingerprint: string,
    vectors: ReadonlyMap<ContentHash, Float32Array>,
  ): Promise<ReadonlyMap<ContentHash, Float32Array>> {
    return retryOnConflict(async () => {
      const { vectors: known, unreadable } = await this.#read(fingerprint, [...vectors.keys()]);
      const writes: TableWrite[] = [];
      for (const [hash, vector] of vectors) {
        if (known.has(hash)) continue;
        const write = { table: 'vectors', key: vectorKey(fingerprint, hash), value: encodeVector(vector) } as const;
        writes.push(unreadable.has(hash) ? write : { ...write, isNew: true });
      }
      if (writes.length > 0) await this.#store.commit(writes);
      return new Map([...vectors, ...known]);
    });
  }

  async #remove(keys: readonly string[]): Promise<void> {
    const writes: TableWrite[] = keys.map((key) => ({ table: 'vectors', key, value: null }));
    if (this.#isShared) {
      // Another value each time: whoever lost its place in the log sees that there was something.
      const value = encodeRecord({ mark: randomUUID() });
      writes.push({ table: 'meta', key: REMOVED_KEY, value, note: JSON.stringify(keys) });
    }
    await retryOnConflict(() => this.#store.commit(writes));
  }

  async #read(
    fingerprint: string,
    hashes: readonly ContentHash[],
  ): Promise<{ vectors: Map<ContentHash, Float32Array>; unreadable: ReadonlySet<ContentHash> }> {
    const rows = await this.#store.getMany(
      'vectors',
      hashes.map((hash) => vectorKey(fingerprint, hash)),
    );
    const vectors = new Map<ContentHash, Float32Array>();
    const unreadable = new Set<ContentHash>();
    hashes.forEach((hash, i) => {
      const bytes = rows[i];
      if (bytes === undefined) return;
      const vector = decodeVector(bytes);
      if (vector !== undefined) vectors.set(hash, vector);
      else {
        unreadable.add(hash);
        log('error', 'a stored vector cannot be read and is left out', { table: 'vectors', hash });
      }
    });
    return { vectors, unreadable };
  }

  async prune(isKept: (fingerprint: string, hash: ContentHash) => boolean): Promise<number> {
    let removed = 0;
    for await (const slice of this.#store.keys('vectors')) {
      const keys = slice.filter((key) => !isKept(...partsOf(key)));
      if (keys.length === 0) continue;
      const rows = await this.#store.getMany('vectors', keys);
      const unwanted = keys.flatMap((key, i) => (isKept(...partsOf(key)) ? [] : [{ key, value: rows[i] }]));
      await this.#remove(unwanted.map(({ key }) => key));
      // Whoever came to need one while it went has found it, and will not put it again.
      const wanted = unwanted.flatMap(({ key, value }): TableWrite[] =>
        value !== undefined && isKept(...partsOf(key)) ? [{ table: 'vectors', key, value }] : [],
      );
      if (wanted.length > 0) await this.#store.commit(wanted);
      removed += unwanted.length - wanted.length;
    }
    return removed;
  }
}

/** What an entry of the log tells of removed vectors of a model; `hashes` undefined: it is not known which. */
export function vectorsRemovedIn(
  writes: readonly LoggedWrite[],
  fingerprint: string,
): { readonly hashes: readonly ContentHash[] | undefined } | undefined {
  const write = writes.find(({ table, key }) => table === 'meta' && key === REMOVED_KEY);
  if (write === undefined) return undefined;
  const keys = readKeys(write.note);
  if (keys === undefined) return { hashes: undefined };
  const removed = keys.map(partsOf);
  return { hashes: removed.flatMap(([model, hash]) => (model === fingerprint ? [hash] : [])) };
}

/** Of a note of this version. */
function readKeys(note: string | undefined): string[] | undefined {
  try {
    const keys: unknown = JSON.parse(note ?? '');
    return Array.isArray(keys) ? keys.map(String) : undefined;
  } catch {
    return undefined;
  }
}

function vectorKey(fingerprint: string, hash: ContentHash): string {
  return `${fingerprint}/${hash}`;
}

function partsOf(key: string): [fingerprint: string, hash: ContentHash] {
  const end = key.lastIndexOf('/');
  return [key.slice(0, end), key.slice(end + 1) as ContentHash];
}

function encodeVector(vector: Float32Array): Uint8Array {
  const bytes = Buffer.from(vector.slice().buffer);
  return isBigEndian ? bytes.swap32() : bytes;
}

/** undefined where the bytes are not whole, finite numbers: a NaN in an index would be found by nobody. */
function decodeVector(bytes: Uint8Array): Float32Array | undefined {
  if (bytes.byteLength === 0 || bytes.byteLength % 4 !== 0) return undefined;
  // A copy (not `slice`, a view on a Buffer): Float32Array needs an aligned start, which stored bytes need not have.
  const own = Buffer.from(new Uint8Array(bytes).buffer);
  const vector = new Float32Array((isBigEndian ? own.swap32() : own).buffer);
  return vector.every(Number.isFinite) ? vector : undefined;
}
