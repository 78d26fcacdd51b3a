import type {
  IndexDiff,
  IndexHeld,
  IndexInstance,
  IndexVersion,
  IndexVersionList,
  RollbackReply,
  VerifyReply,
} from '../contract/index.ts';
import { AgentReachError, type Clock, errorText, isAgentReachError, log, publish } from '../core/index.ts';
import type { EmbedderInfo } from '../embedding/index.ts';
import {
  type ExpectedVersion,
  type LayeredIndex,
  NO_VERSION_ID,
  type VersionFindings,
  type VersionStore,
  verifyVersion,
} from '../vector-index/index.ts';
import type { Answerer } from './candidate-check.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import { decodeCatalogue, diffCatalogues, missingCatalogue } from './catalogue.ts';
import { type GoldenSet, missText } from './golden-set.ts';
import type { IndexHold, IndexHolder } from './index-hold.ts';
import { type IndexRebuilder, wireVersion } from './index-rebuilder.ts';
import type { IndexStart } from './index-start.ts';
import { HeadSet, type PhraseHeads } from './relevance/phrase-heads.ts';
import type { IndexService, VerifyRequest } from './routing-service.ts';
import { overtaken, type SharedVersions } from './shared/shared-versions.ts';
import type { VersionMaker } from './shared/version-maker.ts';
import { swapTo, type WholeVersion } from './version-swap.ts';

export interface IndexDeskOptions {
  readonly clock: Clock;
  readonly model: EmbedderInfo;
  /** Where the version store lies, for threads that open it themselves. */
  readonly dir: string;
  readonly store: VersionStore;
  readonly vectors: LayeredIndex;
  readonly indexer: CapabilityIndexer;
  readonly rebuilder: IndexRebuilder;
  readonly holder: IndexHolder;
  readonly heads?: PhraseHeads;
  readonly golden: GoldenSet;
  readonly answerer: Answerer;
  readonly started: IndexStart;
  /** What instances share; absent where this one has the store to itself. */
  readonly shared?: {
    readonly versions: SharedVersions;
    readonly maker: VersionMaker;
    readonly instances: () => Promise<IndexInstance[]>;
  };
}

const REQUIRED_RECALL = 0.99;

/** What operators do with index versions: list, rebuild, go back, verify, compare. */
export class IndexDesk implements IndexService {
  readonly #options: IndexDeskOptions;
  readonly #verifying = new Set<Promise<unknown>>();

  constructor(options: IndexDeskOptions) {
    this.#options = options;
    const { held, info, heads } = options.started;
    if (info !== undefined) options.heads?.load(heads, info);
    if (held !== undefined) options.indexer.hold(held.meanings, held.hold.liveHashes);
  }

  get currentVersion(): string {
    return this.#options.vectors.versionId;
  }

  /** The rollback in force. */
  get held(): IndexHeld | null {
    return this.#options.holder.wire();
  }

  async versions(): Promise<IndexVersionList> {
    const { store, vectors, holder, rebuilder, started, shared } = this.#options;
    const items: IndexVersion[] = [];
    const refused: { id: string; problem: string }[] = [];
    for (const { id, info, problem } of await store.list()) {
      if (info !== undefined && shared === undefined) items.push(wireVersion(info, this.currentVersion));
      const atStart = started.refused.find((one) => one.id === id);
      if (atStart !== undefined) refused.push(atStart);
      else if (problem !== undefined) refused.push({ id, problem });
    }
    const { lastFailure } = rebuilder;
    for (const { info } of shared?.versions.versions ?? []) items.push(wireVersion(info, this.currentVersion));
    const held = holder.wire();
    const list = { current: this.currentVersion, delta: vectors.deltaSize, items, refused, held, lastFailure };
    return shared === undefined ? list : { ...list, instances: await shared.instances() };
  }

  rebuild(request: Parameters<IndexService['rebuild']>[0]): Promise<IndexVersion> {
    return this.#options.rebuilder.rebuild(request);
  }

  rollback({ version, by }: { readonly version: string; readonly by: string }): Promise<RollbackReply> {
    const { clock, holder, indexer, vectors, rebuilder, shared } = this.#options;
    return rebuilder.runAlone(async () => {
      const whole = await this.#whole(version);
      const { loaded } = whole;
      await vectors.compareWith(loaded);
      const hold = { version, heldAt: clock.wallNow(), by, liveHashes: indexer.liveHashes() };
      await holder.take(hold);
      this.#assertNewest(hold);
      const held = holder.wire();
      if (held === null) throw new AgentReachError('AR_ERR_INTERNAL', { detail: 'The rollback was not kept.' });
      const restored = swapTo(this.#options, whole, holder.current);
      shared?.versions.noteServed(shared.versions.fence);
      publish('index.rolled_back', { version, by });
      log('warn', 'index rolled back; rebuilds wait for a command', { version, by, restored });
      return { version, held, restored, report: wireVersion(loaded.info, version) };
    });
  }

  async verify(request: VerifyRequest): Promise<VerifyReply> {
    const { store, dir } = this.#options;
    const id = request.version ?? this.currentVersion;
    if (id === NO_VERSION_ID) {
      throw new AgentReachError('AR_ERR_NOT_FOUND', { detail: 'No index version was built yet.' });
    }
    await this.#assertOwn(id);
    const problems: string[] = [];
    const findings = await this.#waited(verifyVersion({ dir, id }, request.onProgress)).catch((error: unknown) => {
      if (!isAgentReachError(error) || error.code !== 'AR_ERR_INDEX_CORRUPT') throw error;
      problems.push(error.message);
      return undefined;
    });
    if (findings !== undefined) problems.push(...problemsOf(findings));
    const info = (await store.list()).find((entry) => entry.id === id)?.info;
    const { fingerprint, dimensions, modelId } = this.#options.model;
    const fits = info?.fingerprint === fingerprint && info.dimensions === dimensions;
    if (info !== undefined && !fits) {
      problems.push(
        `${id} is of model ${info.modelId}, the service runs ${modelId}: rebuild, or start with that model`,
      );
    }
    const golden = findings !== undefined && fits ? await this.#golden(id, request.onProgress) : null;
    for (const miss of golden?.wrong ?? []) problems.push(`golden line ${missText(miss)}`);
    return {
      version: id,
      ok: problems.length === 0,
      problems,
      recallAt10: findings?.recallAt10 ?? null,
      samples: findings?.samples ?? 0,
      unreachable: findings?.unreachable.map((hash) => this.#options.indexer.textOf(hash) ?? hash) ?? [],
      golden,
    };
  }

  async diff({ from, to }: { readonly from: string; readonly to: string }): Promise<IndexDiff> {
    const [before, after] = [await this.#catalogueOf(from), await this.#catalogueOf(to)];
    const { store, shared } = this.#options;
    const counts = new Map<string, number>();
    for (const { id, info } of await store.list()) counts.set(id, info?.count ?? 0);
    for (const { info } of shared?.versions.versions ?? []) counts.set(info.id, info.count);
    const vectors = { from: counts.get(from) ?? 0, to: counts.get(to) ?? 0 };
    return { from, to, ...diffCatalogues(before, after), vectors };
  }

  /** Waits for what runs in threads. */
  async stop(): Promise<void> {
    await this.#options.rebuilder.stop();
    await Promise.allSettled(this.#verifying);
  }

  async #waited<Result>(work: Promise<Result>): Promise<Result> {
    this.#verifying.add(work);
    try {
      return await work;
    } finally {
      this.#verifying.delete(work);
    }
  }

  /** Of the versions of all, an instance has files of those that served here. */
  async #assertOwn(id: string): Promise<void> {
    const { store, shared } = this.#options;
    if (shared?.versions.version(id) === undefined || (await store.list()).some((one) => one.id === id)) return;
    const detail = `This instance has no copy of ${id} to verify: it is kept for all, and made here when it is to serve.`;
    throw new AgentReachError('AR_ERR_NOT_FOUND', { detail });
  }

  /** What another instance published after a rollback, before this one swapped, wins: it is left to the follower. */
  #assertNewest(hold: IndexHold): void {
    const { holder, shared } = this.#options;
    if (shared === undefined || shared.versions.hold === hold) return;
    holder.follow(shared.versions.hold);
    throw overtaken();
  }

  /** A version to go back to: kept on the disk, or one that all share. */
  async #whole(id: string): Promise<WholeVersion> {
    const { store, shared } = this.#options;
    if (shared !== undefined) return shared.maker.whole(id);
    const loaded = await store.load(id, this.#expected());
    return { loaded, meanings: await this.#catalogueOf(id), heads: await store.headsOf(id) };
  }

  async #catalogueOf(version: string) {
    const { store, shared } = this.#options;
    const ofAll = shared?.versions.version(version);
    const bytes = ofAll === undefined ? await store.catalogueOf(version) : await shared?.maker.catalogueOf(ofAll);
    if (bytes === undefined) throw missingCatalogue(version);
    return decodeCatalogue(bytes);
  }

  /** The serving version as it serves; another one as it would after a rollback to it. */
  async #golden(id: string, onProgress: VerifyRequest['onProgress']): Promise<VerifyReply['golden']> {
    const { golden, answerer, indexer, vectors, store } = this.#options;
    const onDone = (done: number, total: number): void => onProgress?.({ phase: 'golden', done, total });
    let view: Parameters<Answerer>[0] = indexer;
    if (id !== this.currentVersion) {
      try {
        const loaded = await store.load(id, this.#expected());
        const bytes = loaded.info.selfCheck?.heads?.used === false ? undefined : await store.headsOf(id);
        const heads = bytes === undefined ? undefined : HeadSet.decode(bytes);
        view = await indexer.heldOver(await this.#catalogueOf(id), vectors.withBase(loaded), heads);
      } catch (error) {
        log('warn', 'the golden set cannot be asked of a version', { version: id, reason: errorText(error) });
        return null;
      }
    }
    const { right, wrong } = await golden.ask(answerer(view), golden.list(), onDone);
    return { right, lines: right + wrong.length, wrong: [...wrong] };
  }

  #expected(): ExpectedVersion {
    const { modelId, fingerprint, dimensions } = this.#options.model;
    return { modelId, fingerprint, dimensions };
  }
}

function problemsOf({ recallAt10, unreachable }: VersionFindings): string[] {
  const problems: string[] = [];
  if (recallAt10 !== null && recallAt10 < REQUIRED_RECALL) {
    problems.push(`recall@10 is ${recallAt10.toFixed(4)}, ${REQUIRED_RECALL} is needed`);
  }
  if (unreachable.length > 0) problems.push(`${unreachable.length} texts are not found when asked for themselves`);
  return problems;
}
