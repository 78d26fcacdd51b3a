import { describe, expect, it, onTestFinished } from 'vitest';
import { type DiagnosticEvents, publish } from '../../src/core/index.ts';
import { INDEX_CHECKS } from '../../src/telemetry/attributes.ts';
import { type Metrics, type MetricsOptions, startMetrics } from '../../src/telemetry/index.ts';

function start(options: MetricsOptions = {}): Metrics {
  const metrics = startMetrics({ defaults: false, ...options });
  onTestFinished(() => metrics.stop());
  return metrics;
}

async function readValue(metrics: Metrics, series: string): Promise<number | undefined> {
  const line = (await metrics.text()).split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const decided = (change: Partial<DiagnosticEvents['route.decided']> = {}): void =>
  publish('route.decided', {
    decision: 'route',
    reason: null,
    matchedBy: 'semantic',
    cache: 'miss',
    degraded: false,
    stages: { embed: 3, recall: 0.2 },
    totalMs: 4,
    ...change,
  });

describe('metrics', () => {
  it('counts requests by method, pattern and status, and times them', async () => {
    const metrics = start();
    publish('http.request', { method: 'POST', route: '/v1/route', status: 200, durationMs: 3 });
    publish('http.request', { method: 'POST', route: '/v1/route', status: 200, durationMs: 30 });
    const labels = 'method="POST",route="/v1/route"';
    expect(await readValue(metrics, `agent_reach_http_requests_total{${labels},status="200"}`)).toBe(2);
    const bucket = 'agent_reach_http_request_duration_seconds_bucket{le="0.005",';
    expect(await readValue(metrics, `${bucket}${labels}}`)).toBe(1);
  });

  it('folds invented methods and stages into one label', async () => {
    const metrics = start();
    for (let at = 0; at < 100; at++) {
      publish('http.request', { method: `X${at}`, route: 'unknown', status: 404, durationMs: 1 });
      decided({ stages: { [`stage${at}`]: 1 } });
    }
    expect(
      await readValue(metrics, 'agent_reach_http_requests_total{method="other",route="unknown",status="404"}'),
    ).toBe(100);
    expect(await readValue(metrics, 'agent_reach_route_stage_duration_seconds_count{stage="other"}')).toBe(100);
    expect((await metrics.text()).split('\n').length).toBeLessThan(250);
  });

  it('counts what is asked to measure apart, and in no figure of routes', async () => {
    const metrics = start();
    const before = await metrics.text();
    decided({ isProbe: true, decision: 'no_match', reason: 'below_min_relevance', degraded: true });
    decided({ isProbe: true });
    expect(await readValue(metrics, 'agent_reach_route_probes_total')).toBe(2);
    const others = (text: string): string => text.replace(/^agent_reach_route_probes_total \d+$/m, '');
    expect(others(await metrics.text())).toBe(others(before));
  });

  it('counts decisions, cache outcomes and degraded routes', async () => {
    const metrics = start();
    decided();
    decided({ decision: 'no_match', reason: 'below_min_relevance', matchedBy: null, cache: 'hit', degraded: true });
    const decisions = 'agent_reach_route_decisions_total';
    expect(await readValue(metrics, `${decisions}{decision="route",reason="none",matched_by="semantic"}`)).toBe(1);
    const missed = '{decision="no_match",reason="below_min_relevance",matched_by="none"}';
    expect(await readValue(metrics, decisions + missed)).toBe(1);
    expect(await readValue(metrics, 'agent_reach_route_cache_total{outcome="hit"}')).toBe(1);
    expect(await readValue(metrics, 'agent_reach_routes_degraded_total')).toBe(1);
  });

  it('gives the route-hit share since the start, and its counters', async () => {
    const metrics = start();
    expect(await readValue(metrics, 'agent_reach_route_hit_share')).toBe(0);
    decided();
    decided();
    decided({ decision: 'queue' });
    decided({ decision: 'no_match' });
    expect(await readValue(metrics, 'agent_reach_route_hit_share')).toBe(0.5);
    expect(await readValue(metrics, 'agent_reach_route_no_match_share')).toBe(0.25);
    expect(await readValue(metrics, 'agent_reach_routes_decided_total')).toBe(4);
    expect(await readValue(metrics, 'agent_reach_routes_routed_total')).toBe(2);
  });

  it('times each stage, and the total once even where the stages hold one', async () => {
    const metrics = start();
    decided({ stages: { embed: 3, total: 99 }, totalMs: 4 });
    const name = 'agent_reach_route_stage_duration_seconds';
    expect(await readValue(metrics, `${name}_sum{stage="embed"}`)).toBe(0.003);
    expect(await readValue(metrics, `${name}_sum{stage="total"}`)).toBe(0.004);
    expect(await readValue(metrics, `${name}_count{stage="total"}`)).toBe(1);
  });

  it('shows queue, batches and readiness of the model from its events', async () => {
    const metrics = start();
    publish('embedding.state', { state: 'ready', reason: null });
    publish('embedding.batch', { texts: 16, durationMs: 40, waiting: 7 });
    expect(await readValue(metrics, 'agent_reach_embedding_queue_texts')).toBe(7);
    expect(await readValue(metrics, 'agent_reach_embedding_batch_texts_sum')).toBe(16);
    expect(await readValue(metrics, 'agent_reach_embedding_ready')).toBe(1);
    publish('embedding.state', { state: 'degraded', reason: 'the worker left' });
    expect(await readValue(metrics, 'agent_reach_embedding_ready')).toBe(0);
  });

  it('names one index version at a time and counts failed builds', async () => {
    const metrics = start();
    const built = { count: 10, why: 'test', embedded: 1, reused: 9, durationMs: 5 };
    publish('index.version', { version: 'v000001', ...built });
    publish('index.version', { version: 'v000002', ...built });
    publish('index.failed', { why: 'test', reason: 'recall' });
    expect(await readValue(metrics, 'agent_reach_index_version_info{version="v000002"}')).toBe(1);
    expect(await metrics.text()).not.toContain('v000001');
    expect(await readValue(metrics, 'agent_reach_index_builds_total{outcome="built"}')).toBe(2);
    expect(await readValue(metrics, 'agent_reach_index_builds_total{outcome="failed"}')).toBe(1);
  });

  it('counts what came to nothing by the check that failed, the known checks from 0 on', async () => {
    const metrics = start();
    const failures = 'agent_reach_index_check_failures_total';
    for (const check of INDEX_CHECKS) expect(await readValue(metrics, `${failures}{check="${check}"}`)).toBe(0);
    publish('index.failed', { why: 'test', reason: 'worse', check: 'golden', lines: ['a'] });
    publish('index.failed', { why: 'test', reason: 'worse', check: 'golden', lines: ['a', 'b'] });
    publish('index.failed', { why: 'test', reason: 'the disk is full' });
    expect(await readValue(metrics, `${failures}{check="golden"}`)).toBe(2);
    expect(await readValue(metrics, `${failures}{check="none"}`)).toBe(1);
  });

  it('counts rollbacks, and shows the golden lines as they were answered last', async () => {
    const metrics = start();
    expect(await readValue(metrics, 'agent_reach_index_rollbacks_total')).toBe(0);
    publish('index.rolled_back', { version: 'v000001', by: 'ops' });
    publish('index.rolled_back', { version: 'v000002', by: 'ops' });
    expect(await readValue(metrics, 'agent_reach_index_rollbacks_total')).toBe(2);
    publish('index.golden', { right: 3, wrong: 2 });
    publish('index.golden', { right: 5, wrong: 0 });
    expect(await readValue(metrics, 'agent_reach_index_golden_lines{result="right"}')).toBe(5);
    expect(await readValue(metrics, 'agent_reach_index_golden_lines{result="wrong"}')).toBe(0);
  });

  it('tells the memory of the index by part, as it is at the scrape', async () => {
    const memory = { vectors: 4_096, delta: 0 };
    const metrics = start({ collectors: { indexMemory: () => memory } });
    const bytes = 'agent_reach_index_memory_bytes';
    expect(await readValue(metrics, `${bytes}{part="vectors"}`)).toBe(4_096);
    memory.delta = 512;
    expect(await readValue(metrics, `${bytes}{part="delta"}`)).toBe(512);
  });

  it('asks the owners of live numbers at each scrape', async () => {
    let online = 1;
    const metrics = start({
      collectors: {
        agentCounts: () => ({ online }),
        registryEpoch: () => 12,
        preserving: () => online === 2,
        waitingTexts: () => 3,
        modelReady: () => true,
        index: () => ({ version: 'v000009', count: 5, delta: 2 }),
      },
    });
    expect(await readValue(metrics, 'agent_reach_agents{state="online"}')).toBe(1);
    expect(await readValue(metrics, 'agent_reach_registry_preserving')).toBe(0);
    online = 2;
    expect(await readValue(metrics, 'agent_reach_registry_preserving')).toBe(1);
    expect(await readValue(metrics, 'agent_reach_agents{state="online"}')).toBe(2);
    expect(await readValue(metrics, 'agent_reach_agents{state="offline"}')).toBe(0);
    expect(await readValue(metrics, 'agent_reach_registry_epoch')).toBe(12);
    expect(await readValue(metrics, 'agent_reach_embedding_queue_texts')).toBe(3);
    expect(await readValue(metrics, 'agent_reach_embedding_ready')).toBe(1);
    expect(await readValue(metrics, 'agent_reach_index_vectors{part="delta"}')).toBe(2);
  });

  it('shares no numbers between two in one process, and stops listening', async () => {
    const first = start();
    first.stop();
    const second = start();
    decided();
    expect(await readValue(second, 'agent_reach_routes_decided_total')).toBe(1);
    expect(await first.text()).toBe('\n');
  });

  it('adds the figures of the process by default', async () => {
    expect(await start({ defaults: true }).text()).toContain('process_cpu_seconds_total');
  });
});
