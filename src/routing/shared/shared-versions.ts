import { AgentReachError, type Clock, errorText, isAgentReachError, log, retryOnConflict } from '../../core/index.ts';
import { type IndexVersionInfo, numberOf, versionIdOf } from '../../vector-index/index.ts';
import type { IndexHold, IndexHoldStore } from '../index-hold.ts';
import type { IndexManifest, ManifestStore, SharedVersion } from './index-manifest.ts';

/** Work that one instance does for all. Ends by itself where its holder dies. */
export interface SharedClaim {
  /** Above that of every claim before. */
  readonly fence: number;
  /** Aborted once another instance may have it. */
  readonly lost: AbortSignal;
  confirm(): Promise<boolean>;
  release(): Promise<void>;
}

export interface SharedClaims {
  /** Whether some instance has it. */
  isTaken(work: string): Promise<boolean>;
  /** undefined where another instance has it. */
  take(
    work: string,
    options?: { readonly above?: number; readonly byForce?: boolean },
  ): Promise<SharedClaim | undefined>;
}

export interface SharedVersionsOptions {
  readonly clock: Clock;
  /** Of the model that runs. */
  readonly fingerprint: string;
  readonly store: ManifestStore;
  readonly claims: SharedClaims;
  /** Versions that are kept for all. */
  readonly keep: number;
  /** Highest number among the versions on the own disk: a number is not given twice, even after a lost store. */
  readonly lastNumber: () => Promise<number>;
  /** Throws AR_ERR_STORE_UNAVAILABLE while this instance is behind the others. */
  readonly assertOpen: () => void;
}

/** What others make the same version from, beside the vectors. */
export interface VersionParts extends Pick<SharedVersion, 'absent'> {
  readonly catalogue: Uint8Array;
  readonly heads: Uint8Array | undefined;
}

/** The right to build the next version of all. */
export interface BuildForAll {
  /** Of that version. */
  readonly id: string;
  /** Of what it publishes. */
  readonly fence: number;
  /** Aborted once another instance may have it. */
  readonly lost: AbortSignal;
  /** Stores the parts; answers what makes the version that of all (AR_ERR_INDEX_OVERTAKEN where the right was lost). */
  prepare(parts: VersionParts): Promise<(built: Pick<SharedVersion, 'info' | 'rows'>) => Promise<void>>;
}

interface OnceOptions {
  /** Asked once the claim is there: somebody else may have built what was wanted. */
  readonly isWanted: () => boolean;
  readonly signal: AbortSignal;
}

/** Between two looks whether whoever builds for all still does. */
const POLL_MS = 250;

/**
 * The versions of one model that all instances serve. One instance builds, under a claim; its number is the version's
 * id and the fence of what it publishes. The others hear of it by the log of the store.
 */
export class SharedVersions {
  readonly #options: SharedVersionsOptions;
  readonly #listeners = new Set<() => void>();
  #manifest: IndexManifest | undefined;
  #hold: IndexHold | null = null;
  #isOpen = false;
  #servedFence = -1;
  #failure: unknown;
  readonly #waiting = new Set<() => void>();

  constructor(options: SharedVersionsOptions) {
    this.#options = options;
  }

  get current(): SharedVersion | undefined {
    return this.version(this.#manifest?.current);
  }

  get versions(): readonly SharedVersion[] {
    return this.#manifest?.versions ?? [];
  }

  get hold(): IndexHold | null {
    return this.#hold;
  }

  /** Of what the manifest says. */
  get fence(): number {
    return this.#manifest?.fence ?? 0;
  }

  /** Whether what the manifest says is what this instance does. */
  get isServed(): boolean {
    return this.#manifest === undefined || this.#servedFence === this.#manifest.fence;
  }

  /** Where a rollback is kept: moving the manifest is what makes it one for all. */
  get holdStore(): IndexHoldStore {
    return {
      load: async () => this.#hold ?? undefined,
      // Whatever is published ends it.
      save: async (hold) => (hold === null ? undefined : this.#rollBack(hold)),
    };
  }

  version(id: string | undefined): SharedVersion | undefined {
    return this.versions.find(({ info }) => info.id === id);
  }

  /** From now on versions are built for all: before, this instance had not heard what the others did. */
  open(): void {
    this.#isOpen = true;
  }

  /** Called when the manifest may say something else than is served. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Reads what the store has; what is not newer than what is known is no news. */
  async load(): Promise<void> {
    const { manifest, hold } = await this.#options.store.load();
    if (manifest === undefined || manifest.fence <= this.fence) return;
    this.#manifest = manifest;
    this.#hold = hold ?? null;
    this.#failure = undefined;
    this.tell();
  }

  /** To whoever waits and whoever follows. */
  tell(): void {
    for (const wake of this.#waiting) wake();
    if (!this.isServed) for (const listener of this.#listeners) listener();
  }

  /** Throws where the manifest says something newer, which is left to whoever follows it. */
  assertNewest(fence: number): void {
    if (this.fence !== fence) throw overtaken();
  }

  /** What was published under this fence was put to work. */
  noteServed(fence: number): void {
    this.#failure = undefined;
    this.#servedFence = fence;
    this.tell();
  }

  /** What the manifest says cannot be done here now. */
  noteFailure(error: unknown): void {
    this.#failure = error;
    for (const wake of this.#waiting) wake();
  }

  /**
   * Builds for all; or, where another instance builds, waits until this one serves that version, and takes over
   * where it comes to nothing. Errors: those of `build`; AR_ERR_INDEX_OVERTAKEN when a rollback does;
   * AR_ERR_STOPPING when the signal ends it; AR_ERR_STORE_UNAVAILABLE.
   */
  async buildOnce(
    { isWanted, signal }: OnceOptions,
    build: (forAll: BuildForAll) => Promise<IndexVersionInfo>,
  ): Promise<IndexVersionInfo> {
    const seen = this.fence;
    for (;;) {
      if (this.fence > seen) return this.#joined(signal);
      const claim = await this.#claim();
      if (claim === undefined) {
        await this.#news(signal);
        continue;
      }
      try {
        await this.load();
        if (this.fence > seen) continue;
        const { current } = this;
        if (current !== undefined && !isWanted()) return current.info;
        const { fence, lost } = claim;
        const id = versionIdOf(fence);
        return await build({ id, fence, lost, prepare: (parts) => this.#prepare(claim, parts) });
      } catch (error) {
        if (!claim.lost.aborted || signal.aborted) throw error;
        log('warn', 'the claim to build the index was lost; another instance may have taken it over', {
          reason: errorText(error),
        });
      } finally {
        await claim.release();
      }
    }
  }

  async #prepare(claim: SharedClaim, parts: VersionParts): ReturnType<BuildForAll['prepare']> {
    const { store } = this.#options;
    const { absent } = parts;
    const id = versionIdOf(claim.fence);
    const catalogue = await store.putPart(id, 'catalogue', parts.catalogue);
    const heads = parts.heads === undefined ? null : await store.putPart(id, 'heads', parts.heads);
    return (built) => this.#publish(claim, { ...built, absent, catalogue, heads });
  }

  /** Ends a rollback too. */
  async #publish(claim: SharedClaim, version: SharedVersion): Promise<void> {
    const { keep, store } = this.#options;
    await this.#change(claim, null, (versions) => ({
      fence: claim.fence,
      current: version.info.id,
      versions: [version, ...versions].slice(0, keep),
    }));
    // A part of a lower number can be published no more.
    const isKept = (id: string): boolean => numberOf(id) > claim.fence || this.version(id) !== undefined;
    store.pruneParts(isKept).catch((error: unknown) => {
      log('warn', 'parts of older index versions stay until the next one', { reason: errorText(error) });
    });
  }

  async #rollBack(hold: IndexHold): Promise<void> {
    const claim = await this.#claim({ byForce: true });
    if (claim === undefined) throw overtaken();
    try {
      await this.#change(claim, hold, (versions) => {
        // Others published since it was looked for.
        if (this.version(hold.version) === undefined) throw notKept(hold.version);
        return { fence: claim.fence, current: hold.version, versions };
      });
    } finally {
      await claim.release();
    }
  }

  async #change(
    claim: SharedClaim,
    hold: IndexHold | null,
    next: (versions: readonly SharedVersion[]) => IndexManifest,
  ): Promise<void> {
    if (!(await claim.confirm())) throw overtaken();
    await retryOnConflict(async () => {
      if (this.fence >= claim.fence) throw overtaken();
      const manifest = next(this.versions);
      await this.#options.store.save(manifest, hold);
      this.#manifest = manifest;
      this.#hold = hold;
    });
  }

  async #claim(options: { readonly byForce?: boolean } = {}): Promise<SharedClaim | undefined> {
    const { claims, fingerprint, lastNumber, assertOpen } = this.#options;
    if (!this.#isOpen) return undefined;
    assertOpen();
    const above = Math.max(this.fence, await lastNumber());
    return claims.take(buildingOf(fingerprint), { above, ...options }).catch((cause: unknown) => {
      if (isAgentReachError(cause)) throw cause;
      const detail = `Who builds the index cannot be agreed on: ${errorText(cause)}`;
      throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE', { detail, cause });
    });
  }

  /** The version that another instance built meanwhile, once it serves here. */
  async #joined(signal: AbortSignal): Promise<IndexVersionInfo> {
    while (!this.isServed && this.#hold === null) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#news(signal);
    }
    const { current } = this;
    if (current === undefined || this.#hold !== null) throw overtaken();
    return current.info;
  }

  async #news(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new AgentReachError('AR_ERR_STOPPING');
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        cancel();
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.#options.clock.schedule(POLL_MS, wake);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
    if (signal.aborted) throw new AgentReachError('AR_ERR_STOPPING');
  }
}

/** The work of building versions of a model. */
export function buildingOf(fingerprint: string): string {
  return `index:${fingerprint}`;
}

export function notKept(id: string): AgentReachError {
  return new AgentReachError('AR_ERR_NOT_FOUND', { detail: `There is no index version ${id}.` });
}

export function overtaken(cause?: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_INDEX_OVERTAKEN', { cause });
}
