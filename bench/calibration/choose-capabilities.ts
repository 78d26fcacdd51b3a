/** Registries of a size, drawn from a set: the number of competitors changes the best score. */
import type { LexicalDocument } from '../../src/lexical-index/index.ts';
import type { LabelledQuery, RoutingSet } from './routing-sets.ts';
import { shuffled } from './rows.ts';

/** Filled with what the first queries need, then with any; a quarter stays out, so that some queries go unserved. */
export function chooseCapabilities(
  set: RoutingSet,
  queries: readonly LabelledQuery[],
  size: number,
  random: () => number,
): LexicalDocument[] {
  const all = shuffled(set.capabilities, random);
  const hiddenCount = Math.min(all.length - size, Math.floor(all.length / 4));
  const byId = new Map(all.slice(Math.max(0, hiddenCount)).map((document) => [document.id, document]));
  const chosen = new Map<string, LexicalDocument>();
  for (const id of [...queries.flatMap(({ rightIds }) => rightIds.slice(0, 1)), ...byId.keys()]) {
    const document = byId.get(id);
    if (document !== undefined && chosen.size < size) chosen.set(id, document);
  }
  return [...chosen.values()];
}
