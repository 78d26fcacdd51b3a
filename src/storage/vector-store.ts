/**
 * Vectors over any key-value store, as little-endian Float32 under `<fingerprint>/<hash>`: 4 bytes a dimension and
 * bit for bit what was put.
 */
import { endianness } from 'node:os';
import { type ContentHash, log } from '../core/index.ts';
import type { VectorStore } from '../routing/index.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';

const isBigEndian = endianness() === 'BE';

export class KeyValueVectorStore implements VectorStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async getMany(fingerprint: string, hashes: readonly ContentHash[]): Promise<Map<ContentHash, Float32Array>> {
    const rows = await this.#store.getMany(
      'vectors',
      hashes.map((hash) => vectorKey(fingerprint, hash)),
    );
    const vectors = new Map<ContentHash, Float32Array>();
    hashes.forEach((hash, i) => {
      const bytes = rows[i];
      if (bytes === undefined) return;
      const vector = decodeVector(bytes);
      if (vector !== undefined) vectors.set(hash, vector);
      else log('error', 'a stored vector cannot be read and is left out', { table: 'vectors', hash });
    });
    return vectors;
  }

  async putMany(fingerprint: string, vectors: ReadonlyMap<ContentHash, Float32Array>): Promise<void> {
    const known = await this.getMany(fingerprint, [...vectors.keys()]);
    const writes: TableWrite[] = [];
    for (const [hash, vector] of vectors) {
      if (known.has(hash)) continue;
      writes.push({ table: 'vectors', key: vectorKey(fingerprint, hash), value: encodeVector(vector) });
    }
    if (writes.length > 0) await this.#store.commit(writes);
  }

  async prune(isKept: (fingerprint: string, hash: ContentHash) => boolean): Promise<number> {
    let removed = 0;
    for await (const slice of this.#store.keys('vectors')) {
      const keys = slice.filter((key) => !isKept(...partsOf(key)));
      if (keys.length === 0) continue;
      const rows = await this.#store.getMany('vectors', keys);
      const unwanted = keys.flatMap((key, i) => (isKept(...partsOf(key)) ? [] : [{ key, value: rows[i] }]));
      await this.#store.commit(unwanted.map(({ key }) => ({ table: 'vectors', key, value: null })));
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
