import type { Warning } from '../contract/index.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import type { IndexedCapability } from './indexed-capability.ts';

/** Some of them are its own texts, or of registrations under way that nobody answers for yet. */
const COMPARED_NEIGHBORS = 16;

/**
 * Warns where the name or a description of a capability lies nearly where another capability's does: two teams that
 * mean the same should converge on one name. Examples are left out: two capabilities may share a phrase. A rough
 * search is enough for a hint, and a bulk registration asks ten thousand times while the delta grows.
 */
export function nearDuplicateWarnings(
  entry: IndexedCapability,
  indexer: CapabilityIndexer,
  minSimilarity: number,
): Warning[] {
  const nearest = new Map<string, number>();
  for (const { kind, hash } of entry.texts) {
    const vector = kind === 'name' || kind === 'description' ? indexer.vectorOf(hash) : undefined;
    if (vector === undefined) continue;
    for (const hit of indexer.glance(entry.namespace, vector, COMPARED_NEIGHBORS)) {
      if (hit.entry.name === entry.name || hit.text.kind === 'example' || hit.similarity < minSimilarity) continue;
      nearest.set(hit.entry.name, Math.max(hit.similarity, nearest.get(hit.entry.name) ?? 0));
    }
  }
  return [...nearest]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name, similarity]) => ({
      code: 'near_duplicate',
      message: `"${entry.name}" reads ${similarity.toFixed(2)} like "${name}"; if both mean the same, use one name.`,
      capability: entry.name,
    }));
}
