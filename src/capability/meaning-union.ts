/**
 * Joins what all agents and the dictionary say of one name. A pure function of the set: the order of registration,
 * and how often a thing is said, change nothing.
 */
import { type CapabilityName, canonicalText } from '../core/index.ts';
import type { CapabilityDefinition } from './capability-definition.ts';
import type { CapabilityMeaning } from './capability-meaning.ts';
import type { DictionaryEntry } from './dictionary.ts';

/** Of texts with one canonical form the smallest stays, so that whoever came first does not matter. */
function sortedUnion(texts: Iterable<string>): string[] {
  const kept = new Map<string, string>();
  for (const text of texts) {
    const canonical = canonicalText(text);
    const other = kept.get(canonical);
    if (canonical !== '' && (other === undefined || text < other)) kept.set(canonical, text);
  }
  // Code-unit order: a locale's order would differ between machines.
  return [...kept.values()].sort();
}

/** `definitions` are those of this name alone. */
export function unionMeaning(
  namespace: string,
  name: CapabilityName,
  definitions: Iterable<CapabilityDefinition>,
  entry: DictionaryEntry | undefined,
): CapabilityMeaning {
  const descriptions: string[] = [];
  const aliases: string[] = [];
  const examples: string[] = [];
  let sensitive = entry?.sensitive ?? false;
  if (entry !== undefined && entry.description !== null) descriptions.push(entry.description);
  if (entry !== undefined) examples.push(...entry.examples);
  for (const definition of definitions) {
    if (definition.description !== null) descriptions.push(definition.description);
    aliases.push(...definition.aliases);
    examples.push(...definition.examples);
    sensitive ||= definition.sensitive;
  }
  return {
    namespace,
    name,
    descriptions: sortedUnion(descriptions),
    aliases: sortedUnion(aliases),
    examples: sortedUnion(examples),
    sensitive,
  };
}
