/** The index of meanings with everything around it (hash embedder, memory store, a real folder) and no registry. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDefinitions, unionMeaning } from '../../src/capability/index.ts';
import type { CapabilityObject } from '../../src/contract/index.ts';
import { type Clock, ManualClock } from '../../src/core/index.ts';
import { type EmbedderInfo, HashEmbedder, type ModelCalibration } from '../../src/embedding/index.ts';
import { Bm25Index } from '../../src/lexical-index/index.ts';
import {
  CandidateCheck,
  CapabilityIndexer,
  DEFAULT_ROUTING,
  GoldenSet,
  goldenAnswerer,
  HeadTrainer,
  IndexDesk,
  IndexHolder,
  IndexRebuilder,
  PhraseHeads,
  type SharedClaims,
  SharedNeeds,
  SharedVersions,
  startIndex,
  VectorPruner,
  VersionFollower,
  VersionMaker,
} from '../../src/routing/index.ts';
import type { PhraseHeadsOptions } from '../../src/routing/relevance/phrase-heads.ts';
import { RuleService } from '../../src/rules/index.ts';
import {
  KeyValueGoldenStore,
  KeyValueIndexHoldStore,
  KeyValueManifestStore,
  KeyValueRuleStore,
  KeyValueVectorStore,
  MemoryStore,
} from '../../src/storage/index.ts';
import { IndexBuilder, LayeredIndex, VersionStore } from '../../src/vector-index/index.ts';
import { CALIBRATION } from './router-rig.ts';

export function meaningsOf(capabilities: readonly CapabilityObject[], namespace = 'default') {
  return readDefinitions([...capabilities], []).map((one) => unionMeaning(namespace, one.name, [one], undefined));
}

/** `store` and `dir` of an earlier rig: the same service after a restart. */
export async function indexRig(
  before: {
    store?: MemoryStore;
    dir?: string;
    fingerprint?: string;
    trainer?: PhraseHeadsOptions['trainer'];
    calibration?: ModelCalibration;
    /** One of several instances over `store`, which claim work by this. */
    claims?: SharedClaims;
  } = {},
) {
  const clock = new ManualClock();
  const embedder = new HashEmbedder();
  await embedder.start();
  const store = before.store ?? new MemoryStore();
  const dir = before.dir ?? (await mkdtemp(join(tmpdir(), 'agent-reach-index-')));
  const versions = new VersionStore(dir);
  await versions.open().catch(() => undefined);
  const { modelId, dimensions } = embedder.info;
  const model = { ...embedder.info, fingerprint: before.fingerprint ?? embedder.info.fingerprint };
  const expected = { modelId, dimensions, fingerprint: model.fingerprint, kind: 'hnsw' as const };
  const manifests = new KeyValueManifestStore(store, model.fingerprint);
  const shared = before.claims === undefined ? undefined : sharedVersions(before.claims, { clock, model, manifests });
  await shared?.load();
  const holder = new IndexHolder(shared?.holdStore ?? new KeyValueIndexHoldStore(store));
  const { loaded, start: started } = await startIndex(versions, holder, expected, shared !== undefined);
  const vectors = new LayeredIndex(dimensions, loaded);
  const vectorStore = new KeyValueVectorStore(store);
  const heads = new PhraseHeads({
    vectorOf: (hash) => vectors.vectorOf(hash),
    trainer: before.trainer ?? new HeadTrainer(),
    calibration: before.calibration ?? CALIBRATION,
  });
  const indexer = new CapabilityIndexer({
    clock,
    embedder,
    vectorStore,
    vectors,
    createLexicalIndex: () => new Bm25Index(),
    nearDuplicateSimilarity: 0.93,
    heads,
  });
  const rules = new RuleService({ clock, store: new KeyValueRuleStore(store) });
  await rules.load();
  const golden = new GoldenSet(new KeyValueGoldenStore(store));
  await golden.load();
  const answerer = goldenAnswerer({
    clock,
    embedder,
    calibration: before.calibration ?? CALIBRATION,
    rules,
    options: () => DEFAULT_ROUTING,
  });
  const check = new CandidateCheck({ indexer, vectors, golden, answerer });
  const builder = new IndexBuilder({ dir });
  const running = { models: [] as { fingerprint: string; agoMs: number }[] };
  const needs =
    before.claims &&
    new SharedNeeds({
      ...{ fingerprint: model.fingerprint, store: manifests, claims: before.claims },
      models: async () => running.models,
    });
  const pruner = new VectorPruner({
    ...{ fingerprint: model.fingerprint, vectorStore, versions, indexer },
    shared: needs,
  });
  const rebuilder = new IndexRebuilder({
    clock,
    model,
    kind: 'hnsw',
    indexer,
    vectors,
    holder,
    heads,
    check,
    firstWhy: started.firstWhy,
    builder,
    shared,
    pruner,
    debounceMs: 2_000,
    maxWaitMs: 30_000,
    deltaShare: 0.1,
  });
  const parts = {
    clock,
    model,
    dir,
    store: versions,
    vectors,
    indexer,
    rebuilder,
    holder,
    heads,
    golden,
    answerer,
    started,
  };
  const ofAll = shared && {
    versions: shared,
    maker: new VersionMaker({ expected, shared, store: manifests, versions, vectors, vectorStore, builder }),
    instances: async () => [],
  };
  const follower = ofAll && new VersionFollower({ ...parts, ...ofAll, shared: ofAll.versions });
  const desk = new IndexDesk(ofAll === undefined ? parts : { ...parts, shared: ofAll });
  const rig = {
    ...parts,
    rules,
    /** The version that the start found. */
    startedOn: loaded === undefined ? undefined : new WeakRef(loaded),
    kept: store,
    embedder,
    vectorStore,
    pruner,
    desk,
    shared,
    manifests,
    /** Models that ran elsewhere, as the instances say. */
    running,
    /** What a line of text is taken to mean now. */
    async answer(text: string) {
      return answerer(indexer)({ id: 'x', text, capability: null, namespace: 'default' });
    },
    register: async (capabilities: readonly CapabilityObject[]) => {
      const meanings = meaningsOf(capabilities);
      await indexer.prepare(meanings);
      indexer.apply(meanings);
    },
    rebuild: () => desk.rebuild({ by: 'test', why: 'test' }),
    clean: async () => {
      await Promise.all([follower?.stop(), desk.stop()]);
      indexer.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return rig;
}

function sharedVersions(
  claims: SharedClaims,
  { clock, model, manifests: store }: { clock: Clock; model: EmbedderInfo; manifests: KeyValueManifestStore },
): SharedVersions {
  const around = { lastNumber: async () => 0, assertOpen: () => undefined };
  const shared = new SharedVersions({ ...around, clock, fingerprint: model.fingerprint, store, claims, keep: 3 });
  shared.open();
  return shared;
}

export type IndexRig = Awaited<ReturnType<typeof indexRig>>;
