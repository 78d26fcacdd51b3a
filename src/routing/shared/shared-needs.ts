import { log } from '../../core/index.ts';
import { decodeCatalogue } from '../catalogue.ts';
import type { ManifestStore, SharedVersion } from './index-manifest.ts';
import { buildingOf, type SharedClaims } from './shared-versions.ts';
import { idsOf } from './version-maker.ts';

export interface SharedNeedsOptions {
  readonly fingerprint: string;
  readonly store: ManifestStore;
  readonly claims: SharedClaims;
  /** Models that ran in the last days, and how long ago an instance said so. */
  readonly models: () => Promise<readonly { readonly fingerprint: string; readonly agoMs: number }[]>;
}

/** So long a model counts as running after its last instance left: a restart is no reason to embed everything again. */
const RESTART_MS = 3_600_000;
const WORK = 'vectors';

/** Which stored vectors instances need that are not this one, of whatever model. */
export class SharedNeeds {
  readonly #options: SharedNeedsOptions;

  constructor(options: SharedNeedsOptions) {
    this.#options = options;
  }

  /**
   * Runs the task; not where another instance does the same now, nor while a version is built: what it is built from
   * is told to nobody before it is published.
   */
  async alone(task: () => Promise<void>): Promise<void> {
    const { claims } = this.#options;
    for (const model of await this.running()) if (await claims.isTaken(buildingOf(model))) return;
    const claim = await claims.take(WORK);
    if (claim === undefined) return;
    try {
      await task();
    } finally {
      await claim.release();
    }
  }

  /** Fingerprints of the models that instances run: each needs what is registered now under its own. */
  async running(): Promise<ReadonlySet<string>> {
    const { fingerprint, models } = this.#options;
    const seen = (await models()).filter(({ agoMs }) => agoMs <= RESTART_MS);
    return new Set([fingerprint, ...seen.map((one) => one.fingerprint)]);
  }

  /**
   * What the shared versions were built from, by fingerprint, so that each can be made from it. Those of a model that
   * nobody ran for days are forgotten. Error: AR_ERR_INDEX_CORRUPT for a catalogue that cannot be read.
   */
  async hashesOfVersions(): Promise<Map<string, ReadonlySet<string>>> {
    const { fingerprint, store, models } = this.#options;
    const hashes = new Map<string, ReadonlySet<string>>();
    const known = new Set((await models()).map((one) => one.fingerprint));
    const { manifest } = await store.load();
    hashes.set(fingerprint, await hashesOf(store, manifest?.versions ?? []));
    for (const other of await store.others()) {
      if (known.has(other.fingerprint)) {
        hashes.set(other.fingerprint, await hashesOf(store.of(other.fingerprint), other.manifest.versions));
      } else {
        log('info', 'index versions of a model that nobody runs are forgotten', { fingerprint: other.fingerprint });
        await store.forget(other.fingerprint);
      }
    }
    return hashes;
  }
}

async function hashesOf(store: ManifestStore, versions: readonly SharedVersion[]): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>();
  for (const { info, catalogue, absent } of versions) {
    const meanings = await decodeCatalogue(await store.part(info.id, 'catalogue', catalogue));
    for (const hash of await idsOf(meanings, absent)) hashes.add(hash);
  }
  return hashes;
}
