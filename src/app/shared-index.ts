/**
 * What this instance shares of the index with the others over one Redis: the manifest of its model's versions, who
 * builds, who embeds a text, and which instances run.
 */
import type { IndexInstance } from '../contract/index.ts';
import { AgentReachError, type CancelTimer, type Clock, errorText, log } from '../core/index.ts';
import { InstancePresence, type Presence, TextClaims, WorkClaims } from '../redis/index.ts';
import {
  type CapabilityIndexer,
  type IndexStart,
  SharedNeeds,
  SharedVersions,
  VersionFollower,
  type VersionFollowerOptions,
  VersionMaker,
  type VersionMakerOptions,
} from '../routing/index.ts';
import {
  KeyValueManifestStore,
  type LoggedWrite,
  manifestKeyOf,
  type RedisStore,
  vectorsRemovedIn,
} from '../storage/index.ts';
import { numberOf, type VersionStore } from '../vector-index/index.ts';

/** How often an instance says that it runs, and which version it serves. */
const TELL_MS = 5_000;
/** Silent for longer: not shown. */
const SHOWN_MS = 3 * TELL_MS;

export interface SharedIndexParts {
  readonly store: RedisStore;
  readonly clock: Clock;
  readonly fingerprint: string;
  readonly keepVersions: number;
  readonly versionStore: VersionStore;
  /** Throws while this instance is behind the others. */
  readonly assertOpen: () => void;
}

export class SharedIndex {
  readonly versions: SharedVersions;
  readonly needs: SharedNeeds;
  readonly textClaims: TextClaims;
  readonly #parts: SharedIndexParts;
  readonly #manifests: KeyValueManifestStore;
  readonly #presence: InstancePresence;
  #follower: VersionFollower | undefined;
  #versionId: () => string = () => '';
  #cancel: CancelTimer = () => undefined;
  #heard: Presence = { instances: [], models: [] };
  #telling: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(parts: SharedIndexParts) {
    const { store, clock, fingerprint, keepVersions: keep, versionStore, assertOpen } = parts;
    this.#parts = parts;
    this.#manifests = new KeyValueManifestStore(store, fingerprint);
    this.#presence = new InstancePresence(store.link);
    this.textClaims = new TextClaims(store.link);
    const claims = new WorkClaims(store.link);
    const lastNumber = async (): Promise<number> => numberOf(await versionStore.nextId()) - 1;
    const shared = { fingerprint, store: this.#manifests, claims };
    this.versions = new SharedVersions({ ...shared, clock, keep, lastNumber, assertOpen });
    this.needs = new SharedNeeds({ ...shared, models: async () => (await this.#tell()).models });
  }

  maker(parts: Omit<VersionMakerOptions, 'shared' | 'store'>): VersionMaker {
    return new VersionMaker({ ...parts, shared: this.versions, store: this.#manifests });
  }

  follow(parts: Omit<VersionFollowerOptions, 'clock' | 'shared'>): void {
    const { clock } = this.#parts;
    this.#follower = new VersionFollower({ ...parts, clock, shared: this.versions });
    this.#versionId = () => parts.vectors.versionId;
  }

  /** Whether what the start found on the own disk is what all serve. */
  async noteStart({ info, held }: IndexStart): Promise<void> {
    const { current, hold, fence } = this.versions;
    const isThere = hold === null ? info?.id === current?.info.id : held !== undefined;
    if (current === undefined || !isThere) return;
    const own = await this.#parts.versionStore.rowsDigestOf(current.info.id);
    if (own?.ids === current.rows.ids && own.vectors === current.rows.vectors) this.versions.noteServed(fence);
  }

  /**
   * Before anything is embedded: from then on others leave alone what this instance needs. Error:
   * AR_ERR_STORE_UNAVAILABLE.
   */
  async announce(): Promise<void> {
    await this.#tell().catch((cause: unknown) => {
      throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE', { detail: errorText(cause), cause });
    });
  }

  /** Once all that the others did is known. */
  start(): void {
    this.versions.open();
    this.versions.tell();
    this.#tellAgain();
  }

  /** What another instance did to the index. What may fail comes first. */
  async take(writes: readonly LoggedWrite[], indexer: CapabilityIndexer): Promise<void> {
    const { fingerprint } = this.#parts;
    const key = manifestKeyOf(fingerprint);
    if (writes.some((write) => write.table === 'meta' && write.key === key)) await this.versions.load();
    const removed = vectorsRemovedIn(writes, fingerprint);
    if (removed === undefined || removed.hashes?.length === 0) return;
    indexer.restoreVectors(removed.hashes).catch((error: unknown) => {
      log('warn', 'vectors that this instance needs were removed from the store', { reason: errorText(error) });
    });
  }

  /** The instances that run now; while Redis is away, that ran when it was last asked. */
  async instances(): Promise<IndexInstance[]> {
    const { instance: own } = this.#parts.store.link;
    await this.#tell().catch(() => undefined);
    return this.#heard.instances
      .filter(({ agoMs }) => agoMs <= SHOWN_MS)
      .map(({ instance, note }) => ({ ...(JSON.parse(note) as { model: string; version: string }), instance }))
      .map((one) => ({ ...one, isAnswering: one.instance === own }))
      .sort((a, b) => (a.instance < b.instance ? -1 : 1));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#follower?.stop();
    // What is still on its way would put this instance back.
    await this.#telling;
    await this.#presence.leave();
  }

  async #tell(): Promise<Presence> {
    if (this.#isStopped) throw new AgentReachError('AR_ERR_STOPPING');
    const { fingerprint } = this.#parts;
    const note = JSON.stringify({ model: fingerprint, version: this.#versionId() });
    const telling = this.#presence.tell(fingerprint, note);
    this.#telling = Promise.allSettled([this.#telling, telling]);
    this.#heard = await telling;
    return this.#heard;
  }

  #tellAgain(): void {
    this.#cancel = this.#parts.clock.schedule(TELL_MS, () => {
      // Redis is away: it is told once it is back.
      this.#tell().catch(() => undefined);
      this.#tellAgain();
    });
  }
}
