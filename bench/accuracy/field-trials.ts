/** Questions asked of registries of several sizes, with the evidence that the service would have. */
import { UNFITTED } from '../../src/embedding/index.ts';
import type { LexicalDocument } from '../../src/lexical-index/index.ts';
import { dot } from '../../src/routing/relevance/phrase-head.ts';
import { type Field, fieldOf } from '../../src/routing/relevance/relevance-model.ts';
import { chooseCapabilities } from '../calibration/choose-capabilities.ts';
import type { LabelledQuery, RoutingSet } from '../calibration/routing-sets.ts';
import { seededRandom, shuffled } from '../calibration/rows.ts';
import { queryForm, TrialRegistry, textsOfDocument } from './trial-registry.ts';
import type { VectorOf } from './vector-cache.ts';

export interface FieldTrial {
  /** Set, languages and size: each weighs the same in a fit. */
  readonly cell: string;
  /** Number of the registry drawn; the halves of a cross check are told apart by it. */
  readonly registry: number;
  readonly capabilityCount: number;
  readonly isServed: boolean;
  readonly field: Field;
  readonly isRight: readonly boolean[];
}

const SERVED_PER_REGISTRY = 60;
const UNSERVED_PER_REGISTRY = 30;

export function textsOfSets(sets: readonly RoutingSet[]): string[] {
  return sets.flatMap(({ queries, capabilities, crowd }) => [
    ...queries.map(({ text }) => queryForm(text)),
    ...[...capabilities, ...(crowd?.others ?? [])].flatMap(textsOfDocument),
  ]);
}

export function collect(set: RoutingSet, vectorOf: VectorOf, dimensions: number): FieldTrial[] {
  const random = seededRandom(set.name.length * 1000 + set.capabilities.length);
  const trials: FieldTrial[] = [];
  const draw = (size: number, cell: string, ask: (queries: readonly LabelledQuery[]) => AskedRegistry): void => {
    const rounds = size <= 7 ? 8 : size <= 20 ? 4 : size <= 100 ? 2 : 1;
    for (let round = 0; round < rounds; round++) {
      trials.push(...askRegistry(ask(shuffled(set.queries, random)), { cell, round, vectorOf, dimensions }));
    }
    process.stderr.write(`\r${cell}: ${trials.length} questions      `);
  };
  const name = `${set.name} ${set.languages}`;
  for (const size of set.sizes) {
    draw(size, `${name} ${size}`, (queries) => aloneOf(queries, chooseCapabilities(set, queries, size, random)));
  }
  const others = unlikeOthers(set, vectorOf);
  for (const size of set.crowd?.sizes ?? []) {
    draw(size, `${name} crowded ${size}`, (queries) => amongOthers(set, others, { queries, size, random }));
  }
  return trials;
}

interface AskedRegistry {
  readonly chosen: readonly LexicalDocument[];
  readonly questions: readonly (LabelledQuery & { readonly isServed: boolean })[];
}

function aloneOf(queries: readonly LabelledQuery[], chosen: readonly LexicalDocument[]): AskedRegistry {
  return { chosen, questions: questionsOf(queries, chosen, () => true) };
}

/** Two capabilities whose texts are this near are taken to do the same work. */
const ALIKE = 0.55;

/**
 * Those of the others that read like none that a question is about, since they would serve it unlabelled. Of 60
 * questions answered with one of 5,000 others some 24 were served by it, as far as a quick reading of cut texts tells,
 * before these were taken out.
 */
function unlikeOthers({ crowd, capabilities, queries }: RoutingSet, vectorOf: VectorOf): LexicalDocument[] {
  if (crowd === undefined) return [];
  const asked = new Set(queries.flatMap(({ rightIds }) => rightIds));
  const vectorsOf = (one: LexicalDocument): Float32Array[] => textsOfDocument(one).map(vectorOf);
  const own = capabilities.filter(({ id }) => asked.has(id)).flatMap(vectorsOf);
  return crowd.others.filter((other) => {
    const vectors = vectorsOf(other);
    return !own.some((vector) => vectors.some((one) => dot(vector, one) >= ALIKE));
  });
}

/**
 * At most half of its own, the rest others. What the set's own would serve and does not stays unasked: one of the
 * others may serve it.
 */
function amongOthers(
  set: RoutingSet,
  all: readonly LexicalDocument[],
  { queries, size, random }: { queries: readonly LabelledQuery[]; size: number; random: () => number },
): AskedRegistry {
  const own = chooseCapabilities(set, queries, Math.min(Math.ceil(size / 2), set.capabilities.length), random);
  const others = shuffled(all, random).slice(0, size - own.length);
  return { chosen: [...own, ...others], questions: questionsOf(queries, own, ({ rightIds }) => rightIds.length === 0) };
}

function questionsOf(
  queries: readonly LabelledQuery[],
  chosen: readonly LexicalDocument[],
  mayGoUnserved: (query: LabelledQuery) => boolean,
): AskedRegistry['questions'] {
  const known = new Set(chosen.map(({ id }) => id));
  const isServed = ({ rightIds }: LabelledQuery): boolean => rightIds.some((id) => known.has(id));
  const served = queries.filter(isServed).slice(0, SERVED_PER_REGISTRY);
  const unserved = queries.filter((query) => !isServed(query) && mayGoUnserved(query)).slice(0, UNSERVED_PER_REGISTRY);
  return [
    ...served.map((query) => ({ ...query, isServed: true })),
    ...unserved.map((query) => ({ ...query, isServed: false })),
  ];
}

function askRegistry(
  { chosen, questions }: AskedRegistry,
  { cell, round, vectorOf, dimensions }: { cell: string; round: number; vectorOf: VectorOf; dimensions: number },
): FieldTrial[] {
  const registry = new TrialRegistry(chosen, vectorOf, dimensions);
  const trained = registry.trainHead();
  return (trained === undefined ? [undefined] : [undefined, trained]).flatMap((head) =>
    questions.flatMap(({ text, rightIds, isServed }) => {
      const { names, evidence } = registry.judged(text, UNFITTED, head);
      if (evidence.length === 0) return [];
      const trial = { cell, registry: round, capabilityCount: registry.size, isServed };
      return [{ ...trial, field: fieldOf(evidence), isRight: names.map((name) => rightIds.includes(name)) }];
    }),
  );
}
