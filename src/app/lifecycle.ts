/**
 * Start and stop, each in its order. Start: store, stored state, HTTP, then ready; a model that cannot load does not
 * stop it. Stop: no new requests, running ones end, then the parts from the outside in, the store last.
 */
import type { Readiness } from '../contract/index.ts';
import { errorText, log, PACKAGE_VERSION } from '../core/index.ts';
import { createHttpApp, type HttpServer, startHttpServer } from '../http/index.ts';
import { degradedReasonOf } from '../routing/index.ts';
import { KeyValueDriftStore } from '../storage/index.ts';
import { DriftWatch, type MetricCollectors, startLogger, startMetrics } from '../telemetry/index.ts';
import { estimateMemory } from '../vector-index/index.ts';
import { compose, type Parts, type Substitutes } from './compose.ts';
import type { Config } from './config.ts';
import { dataDirId } from './data-dir-id.ts';
import { followStrategiesFile } from './strategies-file.ts';

export interface RunningService {
  readonly host: string;
  readonly port: number;
  /** `http://127.0.0.1:7420` */
  readonly url: string;
  readonly parts: Parts;
  /** Finishes, flushes and frees everything; calling it again joins the first stop. Never rejects. */
  stop(): Promise<void>;
}

export const SERVICE_VERSION = PACKAGE_VERSION;

/**
 * Resolves when the service is ready, or early (and not ready) when `signal` aborts: somebody wants to stop it
 * while the model loads. Errors: AR_ERR_STORE_*, AR_ERR_INVALID_CONFIG; nothing is left
 * running then.
 */
export async function startService(
  config: Config,
  substitutes: Substitutes = {},
  signal?: AbortSignal,
): Promise<RunningService> {
  const stops: (() => void | Promise<void>)[] = [];
  const undo = async (): Promise<void> => {
    for (const stop of stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        log('error', 'a part did not stop cleanly', { reason: errorText(error) });
      }
    }
  };
  try {
    stops.push(startLogger({ level: config.log.level, version: SERVICE_VERSION }));
    const parts = await compose(config, substitutes);
    stops.push(() => parts.store.close());
    const modelStarted = startModel(parts, stops);
    await loadStrategies(parts, stops);
    await loadState(parts, stops);
    const { server, phase } = await listen(parts, stops);
    await Promise.race([modelStarted, abortOf(signal)]);
    phase.ready = signal?.aborted !== true;
    return runningService(parts, server, undo);
  } catch (error) {
    await undo();
    throw error;
  }
}

function abortOf(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

function startModel({ embedder, indexer, index }: Parts, stops: (() => void | Promise<void>)[]): Promise<void> {
  stops.push(() => embedder.stop());
  stops.push(() => indexer.stop());
  stops.push(() => index.stop());
  return embedder.start();
}

async function loadStrategies(
  { config, clock, strategies }: Parts,
  stops: (() => void | Promise<void>)[],
): Promise<void> {
  await strategies.load();
  const { strategiesFile } = config.routing;
  if (strategiesFile !== null) stops.push(followStrategiesFile(strategiesFile, strategies, clock));
}

/** From the store into memory; vectors come from the index version on disk, else from the store, else are embedded. */
async function loadState(parts: Parts, stops: (() => void | Promise<void>)[]): Promise<void> {
  const { registry, rules, audit, feedback, indexer, index, bus, events, others, shared } = parts;
  stops.push(() => registry.stop());
  stops.push(() => feedback.stop());
  stops.push(() => audit.stop());
  // Alone, the registry tells its own events; among others, the log that all share does.
  if (others === null) bus.subscribe((event) => events.append(event));
  else registry.setSweeping(false);
  await rules.load();
  await audit.start();
  await registry.load();
  await feedback.load();
  if (shared !== null) {
    // Together: what follows the others may wait for a rebuild or a rollback, which only the index ends.
    stops.push(() => Promise.all([shared.stop(), index.stop()]).then(() => undefined));
    await shared.announce();
  }
  await indexer.start();
  if (others === null) return;
  stops.push(() => others.stop());
  await others.start(parts);
  shared?.start();
}

async function listen(
  parts: Parts,
  stops: (() => void | Promise<void>)[],
): Promise<{ server: HttpServer; phase: { ready: boolean } }> {
  const { config, clock, registry, rules, audit, feedback, strategies, router, index, golden, events, others } = parts;
  const phase = { ready: false };
  // Each instance counts what it was asked itself.
  const owner = others === null ? undefined : dataDirId(config.data.dir);
  const drift = new DriftWatch(clock, new KeyValueDriftStore(parts.store, owner));
  await drift.load();
  stops.push(() => drift.stop());
  const metrics = startMetrics({ collectors: { ...collectorsOf(parts), drift: (window) => drift.figures(window) } });
  stops.push(() => metrics.stop());
  const app = createHttpApp(
    {
      registry,
      rules,
      audit,
      feedback,
      strategies,
      events: { log: events, epoch: () => registry.view.epoch, staleMs: () => others?.staleMs ?? null },
      routing: router,
      index,
      golden,
      metricsText: () => metrics.text(),
      readiness: () => readinessOf(parts, phase.ready),
      version: SERVICE_VERSION,
    },
    {
      host: config.http.host,
      apiKeys: config.auth.apiKeys,
      bodyLimitBytes: config.http.bodyLimitBytes,
      clock,
    },
  );
  const server = await startHttpServer(app, { host: config.http.host, port: config.http.port });
  stops.push(() => stopServer(parts, server));
  // Else the stop would wait for readers that never leave by themselves.
  stops.push(() => events.close());
  return { server, phase };
}

/** Registrations get half of the time for their texts: one that waits for thousands must not hold up the stop. */
async function stopServer({ config, clock, embedder }: Parts, server: HttpServer): Promise<void> {
  const graceMs = config.http.stopTimeoutMs;
  const cancel = clock.schedule(graceMs / 2, () => embedder.stopDocuments());
  await server.stop(graceMs);
  cancel();
  embedder.stopDocuments();
}

function collectorsOf({ config, registry, rules, embedder, vectors, waitingTexts }: Parts): MetricCollectors {
  return {
    agentCounts: () => registry.counts(),
    preserving: () => registry.preserving,
    registryEpoch: () => registry.view.epoch,
    rules: () => ({ count: rules.current.size, regexSteps: rules.current.regexSize, version: rules.version }),
    waitingTexts,
    modelReady: () => embedder.health.state === 'ready',
    index: () => ({ version: vectors.versionId, count: vectors.size - vectors.deltaSize, delta: vectors.deltaSize }),
    indexMemory: () => {
      const { vectorsBytes, graphBytes, deltaBytes, tombstoneBytes } = estimateMemory(vectors, config.index.m);
      return { vectors: vectorsBytes, graph: graphBytes, delta: deltaBytes, tombstones: tombstoneBytes };
    },
  };
}

/** A store that cannot be written leaves the service ready: it routes from memory; the check says so. */
function readinessOf(parts: Parts, isReady: boolean): Readiness {
  const { store, embedder, indexer, vectors, registry, indexStart, index, rules } = parts;
  const reason = degradedReasonOf(embedder);
  const missing = indexer.missingVectors;
  return {
    ready: isReady,
    degraded: reason !== null || indexer.waitingReason !== null,
    checks: {
      service: { ok: isReady, detail: isReady ? 'serving' : 'starting' },
      store: { ok: store.problem === null, detail: store.problem ?? 'readable and writable' },
      rules: rulesCheck(rules.notInForce),
      model: { ok: reason === null, detail: reason ?? embedder.info.modelId },
      index: {
        ok: missing === 0,
        detail: [
          missing === 0 ? `${vectors.size} vectors` : `${missing} texts wait for their vectors`,
          `at the start: ${indexStart.note}`,
          ...(index.held === null ? [] : [`held at ${index.held.version} since ${index.held.heldAt}`]),
        ].join('; '),
      },
    },
    indexVersion: vectors.versionId,
    registryEpoch: registry.view.epoch,
  };
}

function rulesCheck(notInForce: readonly string[]): Readiness['checks'][string] {
  if (notInForce.length === 0) return { ok: true, detail: 'all in force' };
  return { ok: false, detail: `stored, and not in force in this version: ${notInForce.slice(0, 5).join(', ')}` };
}

function runningService(parts: Parts, server: HttpServer, undo: () => Promise<void>): RunningService {
  const { host } = parts.config.http;
  let stopped: Promise<void> | undefined;
  return {
    host,
    port: server.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    parts,
    stop() {
      stopped ??= undo();
      return stopped;
    },
  };
}
