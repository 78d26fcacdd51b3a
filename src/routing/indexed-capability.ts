import { type CapabilityMeaning, capabilityTexts, nameAsWords } from '../capability/index.ts';
import { type CapabilityName, type ContentHash, canonicalText, contentHash, foldChinese } from '../core/index.ts';
import type { LexicalDocument } from '../lexical-index/index.ts';

export interface IndexedText {
  readonly kind: 'name' | 'description' | 'alias' | 'example';
  readonly text: string;
  /** Of the form that is embedded: vectors that were made of another form of the text are not taken for its own. */
  readonly hash: ContentHash;
}

/** What the model is given of a text. */
export const embeddedForm = foldChinese;

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
    texts: textsOf(meaning),
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

/** Of the texts that stand for a capability, in their order. */
export function textHashesOf(meaning: CapabilityMeaning): ContentHash[] {
  return textsOf(meaning).map(({ hash }) => hash);
}

/** Texts of one embedded form stand once. */
function textsOf(meaning: CapabilityMeaning): IndexedText[] {
  const byHash = new Map<ContentHash, IndexedText>();
  for (const { kind, text } of capabilityTexts(meaning)) {
    const hash = contentHash(embeddedForm(text));
    if (!byHash.has(hash)) byHash.set(hash, { kind, text, hash });
  }
  return [...byHash.values()];
}

/**
 * Whether two states of one capability would be found by the same intents. The texts alone do not tell: an alias that
 * repeats a description makes no text of its own, yet it names the capability and weighs in its words.
 */
export function isFoundAlike(a: IndexedCapability, b: IndexedCapability): boolean {
  return a.meaningHash === b.meaningHash;
}
