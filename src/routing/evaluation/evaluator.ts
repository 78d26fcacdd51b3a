/**
 * Routes labelled texts and says how well it went. Each is asked twice: as a caller would, for the decision, and with
 * a relevance that nothing reaches, for the ranking; the second comes out of the cache of meanings.
 */
import { suggestNames } from '../../capability/index.ts';
import type {
  CapabilityScore,
  CapabilityView,
  EvaluationLine,
  EvaluationReport,
  RouteReply,
} from '../../contract/index.ts';
import { probeCapabilities } from './capability-probe.ts';
import { languageOf } from './evaluation-lines.ts';
import { claimsOf, type Outcome, RANKED, scoresOf } from './outcome.ts';
import {
  type ReportProgress,
  type RouteSource,
  rankedNames,
  routeAll,
  type SourceRequest,
  UNREACHABLE_RELEVANCE,
} from './route-source.ts';
import { BINS, binOf, quantile, reliabilityBins } from './scores.ts';

export interface EvaluateOptions {
  readonly source: { readonly kind: 'service' | 'registry'; readonly place: string };
  /** Of lines that name none. */
  readonly namespace: string;
  /** Texts of two capabilities this near are reported. */
  readonly minSimilarity: number;
  readonly onProgress?: ReportProgress;
}

const LATENCY_SAMPLES = 200;
const MAX_CONFUSIONS = 100;
/** Between the capabilities of a request that was split; no capability name holds it. */
const SEVERAL = ' + ';

export async function evaluate(
  source: RouteSource,
  lines: readonly EvaluationLine[],
  options: EvaluateOptions,
): Promise<EvaluationReport> {
  const onProgress = options.onProgress ?? (() => {});
  const views = await source.capabilities();
  const requests = lines.map((line) => ({ intent: line.text, namespace: line.namespace ?? options.namespace }));
  const { latencyMs, last } = await measureLatency(source, requests, onProgress);
  const outcomes = await outcomesOf(source, lines, requests, onProgress);
  const probed = await probeCapabilities(source, views, {
    minSimilarity: options.minSimilarity,
    onDone: (done, total) => onProgress(done, total, 'own texts'),
  });
  const registered = views.filter((view) => view.agents > 0);
  return {
    source: {
      ...options.source,
      capabilities: registered.length,
      indexVersion: last?.indexVersion ?? '',
      degraded: last?.degraded ?? false,
    },
    scores: scoresOf(outcomes),
    languages: [...groupBy(outcomes, (one) => one.language)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([language, group]) => ({ language, ...scoresOf(group) })),
    reliability: reliabilityBins(claimsOf(outcomes)),
    relevance: {
      inScope: histogramOf(outcomes.filter((one) => one.expected !== null)),
      outOfScope: histogramOf(outcomes.filter((one) => one.expected === null)),
    },
    capabilities: capabilityScores(outcomes),
    confusions: await confusionsOf(source, outcomes),
    nearDuplicates: [...probed.nearDuplicates],
    unreachable: [...probed.unreachable],
    unknownCapabilities: unknownOf(outcomes, registered),
    latencyMs,
  };
}

/** One after another, since routes sent together wait for each other. */
async function measureLatency(source: RouteSource, requests: readonly SourceRequest[], onProgress: ReportProgress) {
  const times: number[] = [];
  const sample = requests.slice(0, LATENCY_SAMPLES);
  let last: Awaited<ReturnType<RouteSource['route']>> | undefined;
  for (const request of sample) {
    last = await source.route(request);
    const total = last.timings.total;
    if (total !== undefined && last.cache !== 'hit') times.push(total);
    onProgress(times.length, sample.length, 'latency');
  }
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  return { last, latencyMs: p50 === null || p99 === null ? null : { samples: times.length, p50, p99 } };
}

async function outcomesOf(
  source: RouteSource,
  lines: readonly EvaluationLine[],
  requests: readonly SourceRequest[],
  onProgress: ReportProgress,
): Promise<Outcome[]> {
  const total = 2 * requests.length;
  const asked = await routeAll(source, requests, (done) => onProgress(done, total, 'lines'));
  const ranking = requests.map((request) => ({ ...request, topK: RANKED, minRelevance: UNREACHABLE_RELEVANCE }));
  const listed = await routeAll(source, ranking, (done) => onProgress(requests.length + done, total, 'lines'));
  return lines.flatMap((line, i) => {
    const [decision, ranks] = [asked[i], listed[i]];
    if (decision === undefined || ranks === undefined) return [];
    return {
      text: line.text,
      namespace: requests[i]?.namespace ?? '',
      language: line.lang ?? languageOf(line.text),
      expected: line.capability,
      answered: answeredBy(decision),
      ranked: rankedNames(ranks),
      relevance: ranks.relevance,
      isByMeaning: decision.matchedBy !== 'rule' && decision.matchedBy !== 'exact',
    };
  });
}

/** A line names one capability, so a request that was split is not what was expected, nor a refusal. */
function answeredBy({ intents, capability }: RouteReply): string | null {
  if (intents === undefined) return capability;
  return intents.map((intent) => intent.capability ?? 'no_match').join(SEVERAL);
}

export function capabilityScores(outcomes: readonly Outcome[]): CapabilityScore[] {
  const taken = new Map<string, number>();
  for (const { answered, expected } of outcomes) {
    for (const name of answered?.split(SEVERAL) ?? []) {
      if (name !== expected) taken.set(name, (taken.get(name) ?? 0) + 1);
    }
  }
  const names = new Set([...outcomes.flatMap((one) => one.expected ?? []), ...taken.keys()]);
  const byName = groupBy(outcomes, (one) => one.expected ?? '');
  return [...names]
    .map((capability) => {
      const { lines, hitAt1, hitAt5, answeredRight } = scoresOf(byName.get(capability) ?? []);
      return {
        capability,
        lines,
        hitAt1: hitAt1 ?? 0,
        hitAt5: hitAt5 ?? 0,
        answeredRight: answeredRight ?? 0,
        taken: taken.get(capability) ?? 0,
      };
    })
    .sort((a, b) => a.hitAt1 - b.hitAt1 || b.taken - a.taken || (a.capability < b.capability ? -1 : 1));
}

/** One row for each pair of expected and answered, with a text and what drew it there. */
async function confusionsOf(
  source: RouteSource,
  outcomes: readonly Outcome[],
): Promise<EvaluationReport['confusions']> {
  const wrong = outcomes.filter((one) => one.answered !== one.expected);
  const pairs = [...groupBy(wrong, (one) => `${one.expected} ${one.answered}`).values()]
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_CONFUSIONS);
  const firsts = pairs.flatMap((pair) => pair[0] ?? []);
  const replies = await routeAll(
    source,
    firsts.map(({ text, namespace }) => ({ intent: text, namespace, explain: true, topK: 1 })),
  );
  return firsts.map(({ expected, answered, text, relevance, ranked }, i) => {
    const recall = replies[i]?.explain?.recall ?? [];
    const drawn = recall.find((one) => one.capability === (answered?.split(SEVERAL)[0] ?? ranked[0]));
    return {
      expected,
      answered,
      lines: pairs[i]?.length ?? 0,
      text,
      relevance,
      nearestPhrase: drawn?.nearestText ?? null,
    };
  });
}

function unknownOf(
  outcomes: readonly Outcome[],
  registered: readonly CapabilityView[],
): EvaluationReport['unknownCapabilities'] {
  const known = new Set(registered.map((view) => view.name));
  return [...groupBy(outcomes, (one) => one.expected ?? '')].flatMap(([capability, group]) =>
    capability === '' || known.has(capability)
      ? []
      : { capability, lines: group.length, suggestions: suggestNames(capability, known) },
  );
}

function histogramOf(outcomes: readonly Outcome[]): number[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const { relevance } of outcomes) {
    const bin = binOf(relevance ?? 0);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
