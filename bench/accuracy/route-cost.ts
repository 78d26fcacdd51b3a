/** What relevance and a phrase head add to a route among a thousand capabilities, beyond the two searches. */
import { canonicalText } from '../../src/core/index.ts';
import type { ModelCalibration } from '../../src/embedding/index.ts';
import type { LexicalDocument } from '../../src/lexical-index/index.ts';
import { evidenceOf, type FusionSources, gather, leaders } from '../../src/routing/relevance/fusion.ts';
import { PhraseHead } from '../../src/routing/relevance/phrase-head.ts';
import { relevancesOf } from '../../src/routing/relevance/relevance-model.ts';
import { SEED, seededRandom } from '../calibration/rows.ts';
import { queryForm, TrialRegistry } from './trial-registry.ts';
import type { VectorOf } from './vector-cache.ts';

export interface RouteCost {
  readonly capabilities: number;
  readonly textsEach: number;
  /** Processor time of one route in milliseconds; means over the questions asked. */
  readonly meanMs: number;
  readonly questions: number;
}

const CAPABILITIES = 1_000;
const RECALL_K = 32;
const ROUNDS = 5;

/** Of capabilities that have phrases, repeated under other names until there are a thousand. */
export function routeCost(
  documents: readonly LexicalDocument[],
  questions: readonly string[],
  { vectorOf, dimensions, calibration }: { vectorOf: VectorOf; dimensions: number; calibration: ModelCalibration },
): RouteCost {
  const { fitted } = calibration;
  if (fitted === undefined) throw new Error('the cost is that of fitted weights, and there are none');
  const many = Array.from({ length: CAPABILITIES }, (_, at) => {
    const document = documents[at % documents.length] as LexicalDocument;
    return { ...document, id: `${document.id} ${at}` };
  });
  const registry = new TrialRegistry(many, vectorOf, dimensions);
  const names = many.map(({ id }) => id);
  const sources: FusionSources = { ...registry.sources, head: anyHead(names, dimensions) };
  const steps = questions.map((text) => {
    const query = vectorOf(queryForm(text));
    const canonical = canonicalText(text);
    const candidates = gather(sources, canonical, query, RECALL_K);
    return () => {
      const judged = leaders(candidates, calibration).map((one) => evidenceOf(one, sources, query));
      return relevancesOf(fitted, judged, registry.size);
    };
  });
  for (const step of steps) step();
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) for (const step of steps) step();
  const { user, system } = process.cpuUsage(before);
  const meanMs = (user + system) / 1000 / steps.length / ROUNDS;
  const textsEach = many.reduce((sum, one) => sum + 1 + one.descriptions.length + one.examples.length, 0) / many.length;
  return { capabilities: many.length, textsEach, meanMs, questions: steps.length };
}

/** A head of any numbers costs what a learnt one does. */
function anyHead(names: readonly string[], dimensions: number): PhraseHead {
  const random = seededRandom(SEED);
  const weights = Float32Array.from({ length: names.length * dimensions }, () => random() - 0.5);
  return new PhraseHead({ names, center: new Float32Array(dimensions), weights });
}
