/**
 * Prometheus metrics from what the rooms publish. Listening is all it does: no room knows of it, and a service
 * without it loses nothing. What is published is heard in the whole process: of two services in one (as tests have
 * them) each counts the events of both, while gauges are read from its own objects.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { subscribe } from '../core/index.ts';
import {
  AGENT_STATES,
  BATCH_BUCKETS_TEXTS,
  BUILD_BUCKETS_SECONDS,
  boundedLabel,
  HTTP_BUCKETS_SECONDS,
  HTTP_METHODS,
  INDEX_CHECKS,
  METRIC,
  STAGE_BUCKETS_SECONDS,
} from './attributes.ts';
import type { DriftFigures, DriftWindow } from './drift.ts';
import { countRoutes } from './route-metrics.ts';
import { measureRules, type RuleCounts } from './rule-metrics.ts';
import { measureStrategies } from './strategy-metrics.ts';
import { tallyCounter } from './tally-counter.ts';
import { TallyHistogram } from './tally-histogram.ts';

/** Numbers that are read when somebody scrapes, from the objects that own them. */
export interface MetricCollectors {
  /** Agents by state. */
  agentCounts?(): Readonly<Partial<Record<string, number>>>;
  registryEpoch?(): number;
  /** Too many leases ran out together: nobody is evicted for now. */
  preserving?(): boolean;
  rules?: RuleCounts;
  /** Texts waiting for the embedder now. */
  waitingTexts?(): number;
  /** Drift of this hour and this day against the week before. */
  drift?(window: DriftWindow): DriftFigures;
  /** Whether the model answers now. */
  modelReady?(): boolean;
  /** The version that serves now, its vectors and the delta on top of it. */
  index?(): { readonly version: string; readonly count: number; readonly delta: number };
  /** Estimated bytes of the index, by part. */
  indexMemory?(): Readonly<Record<string, number>>;
}

type DriftCollector = NonNullable<MetricCollectors['drift']>;

export interface Metrics {
  /** Format 0.0.4. */
  text(): Promise<string>;
  stop(): void;
}

export interface MetricsOptions {
  readonly collectors?: MetricCollectors;
  /** Process and Node figures too (event loop delay, heap). Default true. */
  readonly defaults?: boolean;
}

export function startMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const collectors = options.collectors ?? {};
  if (options.defaults ?? true) collectDefaultMetrics({ register: registry });
  const stops = [
    countRequests(registry),
    countRoutes(registry),
    measureEmbedding(registry, collectors),
    measureIndex(registry, collectors),
    measureRules(registry, collectors.rules),
    measureStrategies(registry),
    measureIndexChecks(registry, collectors),
  ];
  measureRegistry(registry, collectors);
  if (collectors.drift !== undefined) measureDrift(registry, collectors.drift);
  return {
    text: () => registry.metrics(),
    stop() {
      for (const stop of stops) stop();
      registry.clear();
    },
  };
}

type Stop = () => void;

function countRequests(registry: Registry): Stop {
  const registers = [registry];
  const requests = tallyCounter({
    name: METRIC.httpRequests,
    help: 'Answered HTTP requests; the route is the pattern.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const duration = new TallyHistogram({
    name: METRIC.httpDuration,
    help: 'Time from the request to its answer.',
    labelNames: ['method', 'route'],
    buckets: HTTP_BUCKETS_SECONDS,
    registers,
  });
  return subscribe('http.request', ({ method, route, status, durationMs }) => {
    const label = boundedLabel(method, HTTP_METHODS);
    const series = `${label} ${route}`;
    requests(`${series} ${status}`, () => ({ method: label, route, status: String(status) }));
    duration.tally(series, { method: label, route }, durationMs / 1_000);
  });
}

function measureEmbedding(registry: Registry, collectors: MetricCollectors): Stop {
  const registers = [registry];
  const batchTexts = new Histogram({
    name: METRIC.embeddingBatchTexts,
    help: 'Texts a run of the model.',
    buckets: BATCH_BUCKETS_TEXTS,
    registers,
  });
  const batchDuration = new Histogram({
    name: METRIC.embeddingBatchDuration,
    help: 'Time a run of the model.',
    buckets: STAGE_BUCKETS_SECONDS,
    registers,
  });
  let lastWaiting = 0;
  new Gauge({
    name: METRIC.embeddingQueue,
    help: 'Texts waiting for the model: now, or after the last run where the embedder cannot be asked.',
    registers,
    collect() {
      this.set(collectors.waitingTexts?.() ?? lastWaiting);
    },
  });
  let lastReady = false;
  new Gauge({
    name: METRIC.embeddingReady,
    help: '1 while the model answers, else 0.',
    registers,
    collect() {
      this.set((collectors.modelReady?.() ?? lastReady) ? 1 : 0);
    },
  });
  const stopBatch = subscribe('embedding.batch', ({ texts, durationMs, waiting }) => {
    batchTexts.observe(texts);
    batchDuration.observe(durationMs / 1_000);
    lastWaiting = waiting;
  });
  const stopState = subscribe('embedding.state', ({ state }) => {
    lastReady = state === 'ready';
  });
  return () => {
    stopBatch();
    stopState();
  };
}

function measureIndex(registry: Registry, collectors: MetricCollectors): Stop {
  const registers = [registry];
  let last: { version: string; count: number; delta: number } | undefined;
  const now = () => collectors.index?.() ?? last;
  new Gauge({
    name: METRIC.indexVersion,
    help: 'The index version that serves, as a label; the value is always 1.',
    labelNames: ['version'],
    registers,
    collect() {
      this.reset();
      const current = now();
      if (current !== undefined) this.set({ version: current.version }, 1);
    },
  });
  new Gauge({
    name: METRIC.indexVectors,
    help: 'Vectors searched: in the built version, and in the delta on top of it.',
    labelNames: ['part'],
    registers,
    collect() {
      const current = now();
      if (current === undefined) return;
      this.set({ part: 'built' }, current.count);
      this.set({ part: 'delta' }, current.delta);
    },
  });
  const builds = new Counter({
    name: METRIC.indexBuilds,
    help: 'Builds of an index version.',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: METRIC.indexBuildDuration,
    help: 'Time of a build that was switched to.',
    buckets: BUILD_BUCKETS_SECONDS,
    registers,
  });
  const stopVersion = subscribe('index.version', ({ version, count, durationMs }) => {
    last = { version, count, delta: 0 };
    builds.inc({ outcome: 'built' });
    duration.observe(durationMs / 1_000);
  });
  const stopFailed = subscribe('index.failed', () => builds.inc({ outcome: 'failed' }));
  return () => {
    stopVersion();
    stopFailed();
  };
}

function measureIndexChecks(registry: Registry, collectors: MetricCollectors): Stop {
  const registers = [registry];
  const failures = new Counter({
    name: METRIC.indexCheckFailures,
    help: 'Builds that came to nothing, by the check that failed; none: before any check.',
    labelNames: ['check'],
    registers,
  });
  const rollbacks = new Counter({ name: METRIC.indexRollbacks, help: 'Rollbacks of the index.', registers });
  for (const check of INDEX_CHECKS) failures.inc({ check }, 0);
  let golden = { right: 0, wrong: 0 };
  new Gauge({
    name: METRIC.indexGolden,
    help: 'Golden lines as the last version that was tried answered them.',
    labelNames: ['result'],
    registers,
    collect() {
      this.set({ result: 'right' }, golden.right);
      this.set({ result: 'wrong' }, golden.wrong);
    },
  });
  new Gauge({
    name: METRIC.indexMemory,
    help: 'Memory of the index by part, estimated from sizes; tombstones are counted in the other parts too.',
    labelNames: ['part'],
    registers,
    collect() {
      for (const [part, bytes] of Object.entries(collectors.indexMemory?.() ?? {})) this.set({ part }, bytes);
    },
  });
  const stops = [
    subscribe('index.failed', ({ check }) => failures.inc({ check: check ?? 'none' })),
    subscribe('index.rolled_back', () => rollbacks.inc()),
    subscribe('index.golden', (counts) => {
      golden = counts;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** A window without enough routes has no series: no figure is not a figure of 0. */
function measureDrift(registry: Registry, drift: DriftCollector): void {
  new Gauge({
    name: METRIC.driftIndex,
    help: 'Population stability index against the week before; above 0.25 callers ask for other things.',
    labelNames: ['window', 'of'],
    registers: [registry],
    collect() {
      this.reset();
      for (const window of ['hour', 'day'] as const) {
        const { relevance, noMatch } = drift(window);
        if (relevance !== null) this.set({ window, of: 'relevance' }, relevance);
        if (noMatch !== null) this.set({ window, of: 'no_match' }, noMatch);
      }
    },
  });
}

function measureRegistry(registry: Registry, collectors: MetricCollectors): void {
  const registers = [registry];
  new Gauge({
    name: METRIC.agents,
    help: 'Registered agents by state.',
    labelNames: ['state'],
    registers,
    collect() {
      const counts = collectors.agentCounts?.();
      if (counts === undefined) return;
      for (const state of AGENT_STATES) this.set({ state }, counts[state] ?? 0);
    },
  });
  new Gauge({
    name: METRIC.registryEpoch,
    help: 'Number of the registry view; rises with each change.',
    registers,
    collect() {
      const epoch = collectors.registryEpoch?.();
      if (epoch !== undefined) this.set(epoch);
    },
  });
  new Gauge({
    name: METRIC.registryPreserving,
    help: '1 while too many leases ran out together and nobody is evicted.',
    registers,
    collect() {
      this.set(collectors.preserving?.() === true ? 1 : 0);
    },
  });
}
