import { createHash } from 'node:crypto';
import type { ContentHash } from './ids.ts';

/**
 * Canonical form of a text for matching and caching: NFKC (full width becomes half width), Latin case folded, white
 * space collapsed and trimmed. Two texts with one canonical form mean the same to rules, cache and lexical index.
 */
export function canonicalText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Whether anything in the text can carry meaning: at least one letter or digit of any script. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Lone surrogates cannot be encoded as UTF-8 and would be stored as something else than was sent. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed();
}

/** Identity of an embedded text. 128 bits: a collision needs 2^64 texts. */
export function contentHash(text: string): ContentHash {
  // Not a slice of the whole hex text, which would keep that whole in memory.
  return createHash('sha256').update(text, 'utf8').digest().toString('hex', 0, 16) as ContentHash;
}
