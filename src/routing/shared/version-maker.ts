import type { CapabilityMeaning } from '../../capability/index.ts';
import { AgentReachError, type ContentHash, errorText, log, nextTurn } from '../../core/index.ts';
import type {
  ExpectedVersion,
  IndexBuilder,
  LayeredIndex,
  LoadedVersion,
  VectorRows,
  VersionStore,
} from '../../vector-index/index.ts';
import { decodeCatalogue } from '../catalogue.ts';
import { textHashesOf } from '../indexed-capability.ts';
import type { VectorStore } from '../vector-store.ts';
import type { WholeVersion } from '../version-swap.ts';
import type { ManifestStore, SharedVersion } from './index-manifest.ts';
import { notKept, type SharedVersions } from './shared-versions.ts';

export interface VersionMakerOptions {
  readonly expected: Required<ExpectedVersion>;
  readonly shared: SharedVersions;
  readonly store: ManifestStore;
  readonly versions: VersionStore;
  readonly vectors: LayeredIndex;
  readonly vectorStore: VectorStore;
  readonly builder: IndexBuilder;
}

/** Capabilities whose texts are hashed, and vectors that are copied, between two turns of the event loop. */
const SLICE_ENTRIES = 16;
const SLICE_VECTORS = 256;

/**
 * The own copy of a version that is shared: from the own disk where it is the same, else built in the own thread from
 * the catalogue and from the vectors that memory or the store has. Nothing is embedded.
 */
export class VersionMaker {
  readonly #options: VersionMakerOptions;

  constructor(options: VersionMakerOptions) {
    this.#options = options;
  }

  /**
   * Errors: AR_ERR_NOT_FOUND for a version that is not kept, AR_ERR_INDEX_CORRUPT where it cannot be made from what is
   * stored, those of the builder.
   */
  async whole(id: string, signal?: AbortSignal): Promise<WholeVersion> {
    const version = this.#options.shared.version(id);
    if (version === undefined) throw notKept(id);
    const bytes = await this.catalogueOf(version);
    const meanings = await decodeCatalogue(bytes);
    const own = await this.#onDisk(version);
    if (own !== undefined) return { ...own, meanings };
    return { ...(await this.#made(version, { bytes, meanings, signal })), meanings };
  }

  catalogueOf({ info, catalogue }: SharedVersion): Promise<Uint8Array<ArrayBuffer>> {
    return this.#options.store.part(info.id, 'catalogue', catalogue);
  }

  /** A folder that is not the version, of a store that was set back for example, makes room for it. */
  async #onDisk({ info: { id }, rows }: SharedVersion): Promise<Omit<WholeVersion, 'meanings'> | undefined> {
    const { versions, expected } = this.#options;
    const own = await versions.rowsDigestOf(id);
    if (own?.ids === rows.ids && own.vectors === rows.vectors) {
      try {
        return { loaded: await versions.load(id, expected), heads: await versions.headsOf(id) };
      } catch (error) {
        log('warn', 'an index version on disk is made anew', { version: id, reason: errorText(error) });
      }
    }
    await versions.remove(id);
    return undefined;
  }

  async #made(
    version: SharedVersion,
    from: {
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly meanings: readonly CapabilityMeaning[];
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Omit<WholeVersion, 'meanings'>> {
    const { store, builder, expected } = this.#options;
    const { info, heads: part } = version;
    const heads = part === null ? undefined : await store.part(info.id, 'heads', part);
    const ids = await idsOf(from.meanings, version.absent);
    const { modelId, fingerprint, by, why, removed, catalogueDigest } = info;
    const reused = ids.length;
    let candidate: LoadedVersion | undefined;
    const build = async (rows: VectorRows): Promise<Omit<WholeVersion, 'meanings'>> => {
      const made = await builder.build({
        id: info.id,
        rows,
        kind: expected.kind,
        catalogue: from.bytes.slice(),
        heads,
        about: {
          ...{ modelId, fingerprint, by, why, embedded: 0, reused, removed },
          ...(catalogueDigest === undefined ? {} : { catalogueDigest }),
        },
        ...(from.signal === undefined ? {} : { signal: from.signal }),
        // The golden set was asked by whoever built it first: the same texts and vectors give the same answers.
        approve: async (loaded) => {
          candidate = loaded;
          const { golden, heads: learnt } = info.selfCheck ?? {};
          return { ...(golden === undefined ? {} : { golden }), ...(learnt === undefined ? {} : { heads: learnt }) };
        },
        announce: async ({ rows: found }) => {
          if (found.ids !== version.rows.ids || found.vectors !== version.rows.vectors) throw new OtherRows(info.id);
        },
      });
      if (candidate === undefined) throw new AgentReachError('AR_ERR_INTERNAL', { detail: 'No version was loaded.' });
      return { loaded: { info: made, index: candidate.index }, heads };
    };
    try {
      return await build(await this.#rows(ids, info.id, true));
    } catch (error) {
      if (!(error instanceof OtherRows)) throw error;
      // Memory may hold a vector that was made twice; the one in the store is that of all.
      return build(await this.#rows(ids, info.id, false));
    }
  }

  async #rows(ids: readonly ContentHash[], version: string, isMemoryAsked: boolean): Promise<VectorRows> {
    const { vectors, vectorStore, expected } = this.#options;
    const { dimensions, fingerprint } = expected;
    const slab = new Float32Array(new SharedArrayBuffer(ids.length * dimensions * Float32Array.BYTES_PER_ELEMENT));
    let missing = 0;
    for (let from = 0; from < ids.length; from += SLICE_VECTORS) {
      const slice = ids.slice(from, from + SLICE_VECTORS);
      const held = new Map(slice.map((id) => [id, isMemoryAsked ? vectors.vectorOf(id) : undefined]));
      const absent = slice.filter((id) => held.get(id) === undefined);
      const stored = absent.length === 0 ? undefined : await vectorStore.getMany(fingerprint, absent);
      for (const [i, id] of slice.entries()) {
        const vector = held.get(id) ?? stored?.get(id);
        if (vector === undefined) missing++;
        else slab.set(vector, (from + i) * dimensions);
      }
      await nextTurn();
    }
    if (missing === 0) return { dimensions, ids, vectors: slab };
    const detail = `Index version ${version} cannot be made: ${missing} of its ${ids.length} vectors are not stored.`;
    throw new AgentReachError('AR_ERR_INDEX_CORRUPT', { detail });
  }
}

class OtherRows extends AgentReachError {
  constructor(id: string) {
    super('AR_ERR_INDEX_CORRUPT', { detail: `Index version ${id} came out otherwise than at whoever built it first.` });
  }
}

/** Texts of a catalogue in its order, each once, but for those that had no vector. */
export async function idsOf(
  meanings: readonly CapabilityMeaning[],
  absent: readonly ContentHash[],
): Promise<ContentHash[]> {
  const left = new Set(absent);
  const ids = new Set<ContentHash>();
  for (const [i, meaning] of meanings.entries()) {
    for (const hash of textHashesOf(meaning)) if (!left.has(hash)) ids.add(hash);
    if (i % SLICE_ENTRIES === SLICE_ENTRIES - 1) await nextTurn();
  }
  return [...ids];
}
