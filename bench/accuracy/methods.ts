/** One set, asked in full by each way of ranking: BM25, cosine, their usual blends, and the service's own. */
import { canonicalText } from '../../src/core/index.ts';
import { lexicalStrength, type ModelCalibration, type ModelRow } from '../../src/embedding/index.ts';
import { type FusionSources, fuse } from '../../src/routing/relevance/fusion.ts';
import type { RoutingSet } from '../calibration/routing-sets.ts';
import { seededRandom } from '../calibration/rows.ts';
import { type DecisionFigures, deciderOf, decisionFigures } from './decisions.ts';
import {
  auroc,
  calibrationError,
  hitAt,
  type Outcome,
  type ReliabilityRow,
  refusedAt,
  reliability,
} from './figures.ts';
import { queryForm, TrialRegistry } from './trial-registry.ts';
import type { VectorOf } from './vector-cache.ts';

export const METHODS = ['words', 'similarity', 'sumWithoutGate', 'reciprocalRanks', 'ours'] as const;
export type Method = (typeof METHODS)[number];

export interface MethodFigures {
  readonly hitAt1: number;
  readonly hitAt5: number;
  /** Share of out-of-scope questions refused where 90 % of the others are let through; NaN without such questions. */
  readonly refusedAt90: number;
  readonly auroc: number;
}

export interface SetFigures {
  readonly set: string;
  readonly language: string;
  readonly capabilities: number;
  readonly questions: number;
  readonly outOfScope: number;
  readonly isHeadUsed: boolean;
  readonly methods: Readonly<Record<Method, MethodFigures>>;
  readonly decisions: DecisionFigures;
  readonly calibrationError: number;
  /** Processor time of one fusion, its searches counted and the embedding not. */
  readonly routeCpuMs: number;
}

export interface Measured {
  readonly figures: SetFigures;
  readonly ours: readonly Outcome[];
}

interface Ranked {
  readonly name: string;
  readonly score: number;
}

/** Constant of reciprocal-rank fusion, as in Cormack et al. 2009. */
const RANK_OFFSET = 60;
const LISTED = 32;
const TIMED = 500;

export async function measure(
  set: RoutingSet,
  vectorOf: VectorOf,
  model: ModelRow,
  calibration: ModelCalibration,
): Promise<Measured> {
  const registry = new TrialRegistry(set.capabilities, vectorOf, model.dimensions);
  const learnt = registry.learn(calibration);
  const { head } = learnt;
  const sources: FusionSources = { ...registry.sources, head };
  const known = new Set(set.capabilities.map(({ id }) => id));
  const ease = easeOf(set.capabilities.map(({ id }) => id));
  const outcomes: Record<Method, Outcome[]> = {
    words: [],
    similarity: [],
    sumWithoutGate: [],
    reciprocalRanks: [],
    ours: [],
  };
  const asked = set.queries.filter(({ rightIds }) => rightIds.length === 0 || rightIds.some((id) => known.has(id)));
  for (const { text, rightIds } of asked) {
    const query = vectorOf(queryForm(text));
    const canonical = canonicalText(text);
    const ours = fuse(sources, canonical, query, { calibration, recallK: LISTED });
    const words = sources.words(canonical, LISTED).map(({ entry, hit }) => ({
      name: entry.name as string,
      score: lexicalStrength(hit.score),
    }));
    const nearest = sources
      .nearest(query, 8 * LISTED)
      .map(({ entry, similarity }) => ({ name: entry.name as string, score: similarity }));
    const lists: Record<Method, readonly Ranked[]> = {
      words,
      similarity: nearest,
      sumWithoutGate: byScore(nearest.map((one) => ({ ...one, score: 0.5 * one.score + (ease.get(one.name) ?? 0) }))),
      reciprocalRanks: reciprocalRanks(words, nearest),
      ours: ours.map(({ name, relevance }) => ({ name, score: relevance })),
    };
    for (const method of METHODS) {
      const at = lists[method].findIndex(({ name }) => rightIds.includes(name));
      const relevance = lists[method][0]?.score ?? 0;
      outcomes[method].push({ relevance, rank: at < 0 ? null : at + 1, isServed: rightIds.length > 0 });
    }
  }
  const figures: SetFigures = {
    set: set.name,
    language: set.languages.slice(0, 2),
    capabilities: registry.size,
    questions: asked.length,
    outOfScope: asked.filter(({ rightIds }) => rightIds.length === 0).length,
    isHeadUsed: head !== undefined,
    methods: Object.fromEntries(
      METHODS.map((method) => [method, figuresOf(outcomes[method])]),
    ) as SetFigures['methods'],
    decisions: await decisionFigures(deciderOf({ registry, learnt, calibration, model, vectorOf }), asked),
    calibrationError: calibrationError(outcomes.ours),
    routeCpuMs: cpuMsOf(
      asked.slice(0, TIMED).map(({ text }) => {
        const canonical = canonicalText(text);
        const query = vectorOf(queryForm(text));
        return () => fuse(sources, canonical, query, { calibration, recallK: LISTED });
      }),
    ),
  };
  return { figures, ours: outcomes.ours };
}

/** Mean processor time in milliseconds of these steps; all have run before, so that nothing is compiled meanwhile. */
export function cpuMsOf(steps: readonly (() => unknown)[]): number {
  const before = process.cpuUsage();
  for (const step of steps) step();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / steps.length;
}

/** `calibrationError` over all questions as one; `meanSetError`: over the sets, each weighing the same. */
export function overall(measured: readonly Measured[]): {
  calibrationError: number;
  meanSetError: number;
  reliability: ReliabilityRow[];
} {
  const errors = measured.map(({ figures }) => figures.calibrationError);
  return {
    calibrationError: calibrationError(measured.flatMap(({ ours }) => ours)),
    meanSetError: errors.reduce((sum, one) => sum + one, 0) / errors.length,
    reliability: reliability(measured.flatMap(({ ours }) => ours)),
  };
}

function figuresOf(outcomes: readonly Outcome[]): MethodFigures {
  return {
    hitAt1: hitAt(outcomes, 1),
    hitAt5: hitAt(outcomes, 5),
    refusedAt90: refusedAt(outcomes, 0.9),
    auroc: auroc(outcomes),
  };
}

/** What load and latency add to the weighted score when nothing gates it: one agent each, at random. */
function easeOf(names: readonly string[]): Map<string, number> {
  const random = seededRandom(5);
  return new Map(names.map((name) => [name, 0.3 * random() + 0.2 * random()]));
}

function reciprocalRanks(...lists: readonly (readonly Ranked[])[]): Ranked[] {
  const scores = new Map<string, number>();
  for (const list of lists) {
    for (const [at, { name }] of list.entries()) {
      scores.set(name, (scores.get(name) ?? 0) + 1 / (RANK_OFFSET + at + 1));
    }
  }
  return byScore([...scores].map(([name, score]) => ({ name, score })));
}

function byScore(list: readonly Ranked[]): Ranked[] {
  return [...list].sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
}
