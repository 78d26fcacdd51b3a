/**
 * The texts by which a capability is found, each embedded and indexed by itself. Vectors are kept by the text's
 * hash, so that a change of what is made of a meaning needs no mark: texts that are new are embedded.
 */
import type { CapabilityMeaning } from './capability-meaning.ts';
import { nameAsWords } from './capability-name.ts';

export type CapabilityTextKind = 'name' | 'description' | 'alias' | 'example';

export interface CapabilityText {
  readonly kind: CapabilityTextKind;
  readonly text: string;
}

/** Name first, then descriptions, aliases, examples in the order of the meaning; a text that repeats stands once. */
export function capabilityTexts(meaning: CapabilityMeaning): CapabilityText[] {
  const texts = new Map<string, CapabilityTextKind>([[nameAsWords(meaning.name), 'name']]);
  const add = (kind: CapabilityTextKind, list: readonly string[]): void => {
    for (const text of list) if (!texts.has(text)) texts.set(text, kind);
  };
  add('description', meaning.descriptions);
  add('alias', meaning.aliases);
  add('example', meaning.examples);
  return [...texts].map(([text, kind]) => ({ kind, text }));
}
