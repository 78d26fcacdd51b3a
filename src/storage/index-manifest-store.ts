/**
 * The manifest of the shared index over any key-value store: one record a model, changed together with what a rollback
 * holds, and the parts of each version in compressed pieces under `<fingerprint>/<version>/<part>/<piece>`.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { AgentReachError, errorText } from '../core/index.ts';
import type { IndexHold, IndexManifest, ManifestStore, PartName, SharedPart } from '../routing/index.ts';
import { holdIn, holdKeyOf } from './index-hold-store.ts';
import type { KeyValueStore, TableWrite } from './key-value-store.ts';
import { decodeRecord, encodeRecord, type RecordShape } from './record-codec.ts';

const PREFIX = 'index_manifest:';
const TABLE = 'index_versions';
const SHAPE: RecordShape = { fence: 'number', current: 'string', versions: 'array' };
/** One commit each: some milliseconds of the store. */
const PIECE_BYTES = 512 * 1024;
const FASTEST = { level: 1 };

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** Key of a model's manifest in the table `meta`. */
export const manifestKeyOf = (fingerprint: string): string => PREFIX + fingerprint;

export class KeyValueManifestStore implements ManifestStore {
  readonly #store: KeyValueStore;
  readonly #fingerprint: string;

  constructor(store: KeyValueStore, fingerprint: string) {
    this.#store = store;
    this.#fingerprint = fingerprint;
  }

  async load(): Promise<{ manifest: IndexManifest | undefined; hold: IndexHold | undefined }> {
    const [key, holdKey] = [manifestKeyOf(this.#fingerprint), holdKeyOf(this.#fingerprint)];
    // In one read: the two change together.
    const [bytes, held] = await this.#store.getMany('meta', [key, holdKey]);
    const manifest = bytes === undefined ? undefined : decodeRecord<IndexManifest>('meta', key, bytes, SHAPE);
    return { manifest, hold: holdIn(holdKey, held) };
  }

  async save(manifest: IndexManifest, hold: IndexHold | null): Promise<void> {
    await this.#store.commit([
      { table: 'meta', key: manifestKeyOf(this.#fingerprint), value: encodeRecord(manifest) },
      { table: 'meta', key: holdKeyOf(this.#fingerprint), value: hold === null ? null : encodeRecord(hold) },
    ]);
  }

  async putPart(version: string, name: PartName, bytes: Uint8Array): Promise<SharedPart> {
    const packed = await compress(bytes, FASTEST);
    const pieces = Math.max(1, Math.ceil(packed.byteLength / PIECE_BYTES));
    for (let piece = 0; piece < pieces; piece++) {
      const value = packed.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
      await this.#store.commit([{ table: TABLE, key: this.#keyOf(version, name, piece), value }]);
    }
    return { sha256: sha256Of(bytes), pieces };
  }

  async part(version: string, name: PartName, { sha256, pieces }: SharedPart): Promise<Uint8Array<ArrayBuffer>> {
    const keys = Array.from({ length: pieces }, (_, piece) => this.#keyOf(version, name, piece));
    const found = await this.#store.getMany(TABLE, keys);
    const flaw = (reason: string, cause?: unknown): AgentReachError => {
      const detail = `The ${name} of index version ${version} cannot be taken from the store: ${reason}.`;
      return new AgentReachError('AR_ERR_INDEX_CORRUPT', cause === undefined ? { detail } : { detail, cause });
    };
    const packed = found.flatMap((piece) => piece ?? []);
    if (packed.length !== pieces) throw flaw(`${pieces - packed.length} of ${pieces} pieces are missing`);
    const bytes = await expand(Buffer.concat(packed)).catch((cause: unknown) => {
      throw flaw(errorText(cause), cause);
    });
    if (sha256Of(bytes) !== sha256) throw flaw('it does not match its checksum');
    // A buffer of its own: it is moved to the thread that builds.
    return new Uint8Array(bytes);
  }

  async pruneParts(isKept: (version: string) => boolean): Promise<void> {
    await this.#removeParts((fingerprint, version) => fingerprint === this.#fingerprint && !isKept(version));
  }

  async others(): Promise<{ fingerprint: string; manifest: IndexManifest }[]> {
    const found: { fingerprint: string; manifest: IndexManifest }[] = [];
    for await (const keys of this.#store.keys('meta')) {
      for (const key of keys) {
        const fingerprint = key.slice(PREFIX.length);
        if (!key.startsWith(PREFIX) || fingerprint === this.#fingerprint) continue;
        const { manifest } = await this.of(fingerprint).load();
        if (manifest !== undefined) found.push({ fingerprint, manifest });
      }
    }
    return found;
  }

  of(fingerprint: string): KeyValueManifestStore {
    return new KeyValueManifestStore(this.#store, fingerprint);
  }

  async forget(fingerprint: string): Promise<void> {
    await this.#store.commit([
      { table: 'meta', key: manifestKeyOf(fingerprint), value: null },
      { table: 'meta', key: holdKeyOf(fingerprint), value: null },
    ]);
    await this.#removeParts((one) => one === fingerprint);
  }

  async #removeParts(isUnwanted: (fingerprint: string, version: string) => boolean): Promise<void> {
    for await (const keys of this.#store.keys(TABLE)) {
      const writes = keys.flatMap((key): TableWrite[] => {
        const [fingerprint = '', version = ''] = key.split('/');
        return isUnwanted(fingerprint, version) ? [{ table: TABLE, key, value: null }] : [];
      });
      if (writes.length > 0) await this.#store.commit(writes);
    }
  }

  #keyOf(version: string, name: PartName, piece: number): string {
    return `${this.#fingerprint}/${version}/${name}/${String(piece).padStart(6, '0')}`;
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
