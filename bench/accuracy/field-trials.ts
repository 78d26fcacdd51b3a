/** Questions asked of registries of several sizes, with the evidence that the service would have. */
import { canonicalText } from '../../src/core/index.ts';
import type { ModelRow } from '../../src/embedding/index.ts';
import { type Field, fieldOf } from '../../src/routing/relevance/relevance-model.ts';
import { type RoutingSet, seededRandom, shuffled } from '../calibration/routing-sets.ts';
import { chooseCapabilities } from '../calibration/trials.ts';
import { TrialRegistry, textsOfDocument } from './trial-registry.ts';
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
  return sets.flatMap((set) => [...set.queries.map(({ text }) => text), ...set.capabilities.flatMap(textsOfDocument)]);
}

export function collect(set: RoutingSet, vectorOf: VectorOf, model: ModelRow): FieldTrial[] {
  const random = seededRandom(set.name.length * 1000 + set.capabilities.length);
  const trials: FieldTrial[] = [];
  for (const size of set.sizes) {
    const rounds = size <= 7 ? 8 : size <= 20 ? 4 : size <= 100 ? 2 : 1;
    for (let round = 0; round < rounds; round++) {
      trials.push(...askRegistry(set, size, round, vectorOf, model, random));
    }
    process.stderr.write(`\r${set.name} ${set.languages} ${size}: ${trials.length} questions      `);
  }
  return trials;
}

function askRegistry(
  set: RoutingSet,
  size: number,
  round: number,
  vectorOf: VectorOf,
  model: ModelRow,
  random: () => number,
): FieldTrial[] {
  const queries = shuffled(set.queries, random);
  const chosen = chooseCapabilities(set, queries, size, random);
  const known = new Set(chosen.map(({ id }) => id));
  const isServed = (ids: readonly string[]): boolean => ids.some((id) => known.has(id));
  const served = queries.filter(({ rightIds }) => isServed(rightIds)).slice(0, SERVED_PER_REGISTRY);
  const unserved = queries.filter(({ rightIds }) => !isServed(rightIds)).slice(0, UNSERVED_PER_REGISTRY);
  const registry = new TrialRegistry(chosen, vectorOf, model.dimensions);
  const trained = registry.trainHead();
  return (trained === undefined ? [undefined] : [undefined, trained]).flatMap((head) =>
    [...served, ...unserved].flatMap(({ text, rightIds }) => {
      const { names, evidence } = registry.judged(canonicalText(text), text, model.calibration, head);
      if (evidence.length === 0) return [];
      const trial = { registry: round, capabilityCount: registry.size, isServed: isServed(rightIds) };
      const cell = `${set.name} ${set.languages} ${size}`;
      return [{ ...trial, cell, field: fieldOf(evidence), isRight: names.map((name) => rightIds.includes(name)) }];
    }),
  );
}
