import { type CapabilityMeaning, capabilityTexts, nameAsWords } from '../capability/index.ts';
import { type CapabilityName, type ContentHash, canonicalText, contentHash } from '../core/index.ts';
import type { LexicalDocument } from '../lexical-index/index.ts';

export interface IndexedText {
  readonly kind: 'name' | 'description' | 'alias' | 'example';
  readonly text: string;
  readonly hash: ContentHash;
}

/** A capability as the indexes hold it: its meaning, and the texts that stand for it, each with its content hash. */
export interface IndexedCapability {
  readonly namespace: string;
  readonly name: CapabilityName;
  readonly sensitive: boolean;
  readonly aliases: readonly string[];
  readonly texts: readonly IndexedText[];
  readonly document: LexicalDocument;
  readonly meaning: CapabilityMeaning;
  /** Of all that is said of it: two states with one hash are found by the same intents. */
  readonly meaningHash: ContentHash;
}

export function indexedCapability(meaning: CapabilityMeaning): IndexedCapability {
  return {
    namespace: meaning.namespace,
    name: meaning.name,
    sensitive: meaning.sensitive,
    aliases: meaning.aliases.map(canonicalText),
    texts: capabilityTexts(meaning).map(({ kind, text }) => ({ kind, text, hash: contentHash(text) })),
    meaning,
    meaningHash: contentHash(JSON.stringify(meaning)),
    document: {
      id: meaning.name,
      name: nameAsWords(meaning.name),
      aliases: meaning.aliases,
      descriptions: meaning.descriptions,
      examples: meaning.examples,
    },
  };
}

/**
 * Whether two states of one capability would be found by the same intents. The texts alone do not tell: an alias that
 * repeats a description makes no text of its own, yet it names the capability and weighs in its words.
 */
export function isFoundAlike(a: IndexedCapability, b: IndexedCapability): boolean {
  return a.meaningHash === b.meaningHash;
}
