/** Metrics of routes: what was decided, by what, how long it took. What is asked only to measure is counted apart. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type DiagnosticEvents, subscribe } from '../core/index.ts';
import { boundedLabel, METRIC, ROUTE_STAGES, STAGE_BUCKETS_SECONDS } from './attributes.ts';
import { tallyCounter } from './tally-counter.ts';
import { TallyHistogram } from './tally-histogram.ts';

export function countRoutes(registry: Registry): () => void {
  const registers = [registry];
  const decisions = tallyCounter({
    name: METRIC.decisions,
    help: 'Decisions by kind, reason and what matched.',
    labelNames: ['decision', 'reason', 'matched_by'],
    registers,
  });
  const decided = new Counter({ name: METRIC.decided, help: 'Intents decided.', registers });
  const routed = new Counter({ name: METRIC.routed, help: 'Intents that got an agent.', registers });
  const cache = tallyCounter({
    name: METRIC.cacheOutcomes,
    help: 'What the cache of meanings did.',
    labelNames: ['outcome'],
    registers,
  });
  const degraded = new Counter({ name: METRIC.degradedRoutes, help: 'Intents decided without the model.', registers });
  const stages = new TallyHistogram({
    name: METRIC.stageDuration,
    help: 'Time of each stage of a route, and of the whole.',
    labelNames: ['stage'],
    buckets: STAGE_BUCKETS_SECONDS,
    registers,
  });
  const shares = measureShares(registry);
  const probes = new Counter({
    name: METRIC.routeProbes,
    help: 'Intents asked to measure, by eval and lint: no other figure of routes or rules counts them.',
    registers,
  });
  return subscribe('route.decided', (event) => {
    if (event.isProbe === true) return probes.inc();
    const { decision } = event;
    const reason = event.reason ?? 'none';
    const matchedBy = event.matchedBy ?? 'none';
    decisions(`${decision} ${reason} ${matchedBy}`, () => ({ decision, reason, matched_by: matchedBy }));
    decided.inc();
    if (event.decision === 'route') routed.inc();
    cache(event.cache, () => ({ outcome: event.cache }));
    if (event.degraded) degraded.inc();
    for (const name in event.stages) {
      const stage = boundedLabel(name, ROUTE_STAGES);
      // `total` is taken from its own field, so that it is there and counted once whatever the stages say.
      if (stage !== 'total') stages.tally(stage, { stage }, (event.stages[name] ?? 0) / 1_000);
    }
    stages.tally('total', { stage: 'total' }, event.totalMs / 1_000);
    shares(event.decision);
  });
}

/** The route-hit rate since the start; rates over a window come from the counters. */
function measureShares(registry: Registry): (decision: DiagnosticEvents['route.decided']['decision']) => void {
  const counts = { route: 0, queue: 0, no_match: 0, multi_intent: 0 };
  const share = (part: number): number => {
    const all = counts.route + counts.queue + counts.no_match + counts.multi_intent;
    return all === 0 ? 0 : part / all;
  };
  new Gauge({
    name: METRIC.routeHitShare,
    help: 'Share of decided intents that got an agent, since the start; 0 before the first.',
    registers: [registry],
    collect() {
      this.set(share(counts.route));
    },
  });
  new Gauge({
    name: METRIC.noMatchShare,
    help: 'Share of decided intents that nobody could do, since the start; 0 before the first.',
    registers: [registry],
    collect() {
      this.set(share(counts.no_match));
    },
  });
  return (decision) => {
    counts[decision] += 1;
  };
}
