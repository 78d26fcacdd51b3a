/**
 * The only place that constructs. Reads top to bottom as the service is wired: store, model, index, registry, rules,
 * routing. Starting and stopping, and their order, are in lifecycle.ts.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CapabilityDictionary } from '../capability/index.ts';
import { type Clock, log, systemClock } from '../core/index.ts';
import {
  CachingEmbedder,
  type Embedder,
  loadCalibration,
  modelById,
  TransformersEmbedder,
} from '../embedding/index.ts';
import { EventBus, EventLog } from '../events/index.ts';
import { Bm25Index } from '../lexical-index/index.ts';
import { AgentRegistry, defaultProbeNetworks, FeedbackBook } from '../registry/index.ts';
import {
  CandidateCheck,
  CapabilityIndexer,
  type GoldenAnswerOptions,
  GoldenSet,
  goldenAnswerer,
  HeadTrainer,
  IndexDesk,
  IndexHolder,
  IndexRebuilder,
  type IndexStart,
  PhraseHeads,
  Router,
  StrategyBook,
  startIndex,
  VectorPruner,
  type VectorStore,
} from '../routing/index.ts';
import { AuditLog, RuleService } from '../rules/index.ts';
import {
  KeyValueAgentStore,
  KeyValueAuditStore,
  KeyValueFeedbackStore,
  KeyValueGoldenStore,
  KeyValueIndexHoldStore,
  KeyValueRuleStore,
  type KeyValueStore,
  KeyValueStrategyStore,
  KeyValueVectorStore,
  LmdbStore,
  RedisStore,
} from '../storage/index.ts';
import { IndexBuilder, LayeredIndex, VersionStore } from '../vector-index/index.ts';
import type { Config } from './config.ts';
import { routingOptionsOf } from './config-routing.ts';
import { OtherInstances } from './other-instances.ts';
import { SharedIndex } from './shared-index.ts';
import { strategyFileAt } from './strategies-file.ts';

const MODEL_STOP_MS = 1_000;

/** What a test may put in the place of the real part. */
export interface Substitutes {
  readonly clock?: Clock;
  /** Uniform in 0..1. */
  readonly random?: () => number;
  readonly embedder?: Embedder;
  /** Closed with the service. */
  readonly store?: KeyValueStore;
}

export interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly store: KeyValueStore;
  readonly embedder: Embedder;
  /** Texts that wait for the model. */
  readonly waitingTexts: () => number;
  readonly versionStore: VersionStore;
  readonly vectors: LayeredIndex;
  readonly indexer: CapabilityIndexer;
  readonly index: IndexDesk;
  readonly indexStart: IndexStart;
  readonly golden: GoldenSet;
  readonly registry: AgentRegistry;
  readonly rules: RuleService;
  readonly audit: AuditLog;
  readonly feedback: FeedbackBook;
  readonly strategies: StrategyBook;
  readonly router: Router;
  readonly bus: EventBus;
  readonly events: EventLog;
  /** null where this instance has the store to itself. */
  readonly others: OtherInstances | null;
  /** What is shared with them of the index. */
  readonly shared: SharedIndex | null;
}

/** Opens the store and wires everything; nothing runs yet. Errors: those of the store and the version folder. */
export async function compose(config: Config, substitutes: Substitutes = {}): Promise<Parts> {
  const clock = substitutes.clock ?? systemClock;
  const random = substitutes.random ?? Math.random;
  const store = substitutes.store ?? (await openStore(config));
  try {
    return await wire(config, clock, random, store, substitutes.embedder);
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openStore(config: Config): Promise<KeyValueStore> {
  return config.redis.url === null
    ? LmdbStore.open({ dataDir: config.data.dir })
    : RedisStore.open({ url: config.redis.url, prefix: config.redis.prefix, dataDir: config.data.dir });
}

async function wire(
  config: Config,
  clock: Clock,
  random: () => number,
  store: KeyValueStore,
  substitute: Embedder | undefined,
): Promise<Parts> {
  const model = modelById(config.model.id);
  const { embedder, waitingTexts } = substitute === undefined ? createEmbedder(config, clock) : plain(substitute);
  const { modelId, fingerprint, dimensions } = embedder.info;

  // Versions of all instances, by the data that they are of; else this instance's own.
  const versionsDir = join(config.data.dir, 'index', ...(store instanceof RedisStore ? [store.log.id] : []));
  const versionStore = new VersionStore(versionsDir, { keep: config.index.keepVersions });
  await versionStore.open();
  const expected = { modelId, fingerprint, dimensions, kind: config.index.kind };
  const { missedBeats } = config.registry;
  const others = store instanceof RedisStore ? new OtherInstances({ store, missedBeats }) : null;
  const { keepVersions } = config.index;
  const shared =
    store instanceof RedisStore && others !== null
      ? new SharedIndex({ store, clock, fingerprint, keepVersions, versionStore, assertOpen: others.beats.assertOpen })
      : null;
  await shared?.versions.load();
  const holder = new IndexHolder(shared?.versions.holdStore ?? new KeyValueIndexHoldStore(store));
  const { loaded, start: indexStart } = await startIndex(versionStore, holder, expected, shared !== null);
  const vectors = new LayeredIndex(dimensions, loaded);
  await shared?.noteStart(indexStart);

  const vectorStore = new KeyValueVectorStore(store, { isShared: shared !== null });
  const { calibration, problem } = await loadCalibration(model, config.model.path ?? undefined);
  if (problem !== null) log('warn', 'relevance is calibrated plainly', { model: model.id, reason: problem });
  const heads = new PhraseHeads({
    vectorOf: (hash) => vectors.vectorOf(hash),
    trainer: new HeadTrainer(),
    calibration,
  });
  const indexer = new CapabilityIndexer({
    clock,
    embedder,
    vectorStore,
    vectors,
    createLexicalIndex: () => new Bm25Index(),
    nearDuplicateSimilarity: config.index.nearDuplicateSimilarity,
    textClaims: shared?.textClaims,
    heads,
  });
  const dictionary = new CapabilityDictionary(config.dictionary.mode);
  const bus = new EventBus();
  const events =
    store instanceof RedisStore
      ? new EventLog({ id: store.log.id.slice(0, 8), from: store.log.position })
      : new EventLog({ id: randomBytes(4).toString('hex') });
  const registry = new AgentRegistry({
    clock,
    random,
    store: new KeyValueAgentStore(store),
    dictionary,
    index: indexer,
    bus,
    ...(others === null ? {} : { beats: others.beats }),
    options: {
      ...config.registry,
      probeNetworks: config.registry.probeNetworks ?? defaultProbeNetworks(config.http.host),
    },
  });
  const feedback = new FeedbackBook({
    clock,
    store: new KeyValueFeedbackStore(store),
    dictionary,
    addExample: (namespace, name, example) => registry.addExample(namespace, name, example),
  });
  const rules = new RuleService({
    clock,
    store: new KeyValueRuleStore(store),
    isKnown: (name) => dictionary.knows(name),
    standingOf: (namespace, name) => indexer.space(namespace)?.get(name),
  });

  const audit = new AuditLog({ clock, store: new KeyValueAuditStore(store), ...config.audit });

  const { strategiesFile } = config.routing;
  const strategies = new StrategyBook({
    clock,
    store: new KeyValueStrategyStore(store),
    base: routingOptionsOf(config),
    file: strategiesFile === null ? null : strategyFileAt(strategiesFile),
  });
  const options = () => strategies.current;
  const golden = new GoldenSet(new KeyValueGoldenStore(store));
  await golden.load();
  const index = createIndexDesk(config, {
    answers: { clock, embedder, calibration, rules, options },
    dir: versionsDir,
    store: versionStore,
    vectorStore,
    pruner: new VectorPruner({ fingerprint, vectorStore, versions: versionStore, indexer, shared: shared?.needs }),
    vectors,
    indexer,
    holder,
    heads,
    golden,
    started: indexStart,
    shared,
  });
  const router = new Router({
    clock,
    random,
    embedder,
    calibration,
    indexer,
    view: registry.view,
    rules,
    audit,
    ...(others === null ? {} : { staleMs: () => others.staleMs }),
    indexVersion: () => vectors.versionId,
    options,
    cache: { ttlMs: config.routing.cacheTtlMs, maxEntries: config.routing.cacheEntries },
  });
  return {
    config,
    clock,
    store,
    embedder,
    waitingTexts,
    versionStore,
    vectors,
    indexer,
    index,
    indexStart,
    golden,
    registry,
    rules,
    audit,
    feedback,
    strategies,
    router,
    bus,
    events,
    others,
    shared,
  };
}

interface IndexParts {
  readonly answers: GoldenAnswerOptions;
  readonly dir: string;
  readonly store: VersionStore;
  readonly vectorStore: VectorStore;
  readonly pruner: VectorPruner;
  readonly vectors: LayeredIndex;
  readonly indexer: CapabilityIndexer;
  readonly holder: IndexHolder;
  readonly heads: PhraseHeads;
  readonly golden: GoldenSet;
  readonly started: IndexStart;
  readonly shared: SharedIndex | null;
}

/** Everything that makes, checks and keeps index versions. */
function createIndexDesk(config: Config, { answers, shared, ...parts }: IndexParts): IndexDesk {
  const { clock, embedder } = answers;
  const { kind, keepVersions: keep, m, efConstruction, efSearch } = config.index;
  const model = embedder.info;
  const answerer = goldenAnswerer(answers);
  const builder = new IndexBuilder({ dir: parts.dir, keep, hnsw: { m, efConstruction, efSearch } });
  const rebuilder = new IndexRebuilder({
    ...parts,
    clock,
    model,
    kind,
    check: new CandidateCheck({ ...parts, answerer }),
    firstWhy: parts.started.firstWhy,
    builder,
    shared: shared?.versions,
    debounceMs: config.index.rebuildDebounceMs,
    maxWaitMs: config.index.rebuildMaxWaitMs,
    deltaShare: config.index.rebuildDeltaShare,
  });
  if (shared === null) return new IndexDesk({ ...parts, clock, model, rebuilder, answerer });
  const { modelId, fingerprint, dimensions } = model;
  const expected = { modelId, fingerprint, dimensions, kind };
  const maker = shared.maker({ ...parts, expected, versions: parts.store, builder });
  shared.follow({ ...parts, maker, rebuilder });
  const ofAll = { versions: shared.versions, maker, instances: () => shared.instances() };
  return new IndexDesk({ ...parts, clock, model, rebuilder, answerer, shared: ofAll });
}

type ComposedEmbedder = Pick<Parts, 'embedder' | 'waitingTexts'>;

function plain(embedder: Embedder): ComposedEmbedder {
  return { embedder, waitingTexts: () => 0 };
}

function createEmbedder(config: Config, clock: Clock): ComposedEmbedder {
  const { cacheEntries, ...limits } = config.embedder;
  const model = new TransformersEmbedder({
    model: modelById(config.model.id),
    ...(config.model.path === null ? {} : { modelsPath: config.model.path }),
    clock,
    // Requests have ended by then: nobody waits for what is still in the queue.
    stopTimeoutMs: MODEL_STOP_MS,
    ...limits,
  });
  return {
    embedder: cacheEntries === 0 ? model : new CachingEmbedder(model, { maxEntries: cacheEntries }),
    waitingTexts: () => model.waitingTexts,
  };
}
