/** Rows of gzip JSON lines, capabilities made of them, and seeded draws. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { LexicalDocument } from '../../src/lexical-index/index.ts';

export interface Row {
  readonly [key: string]: unknown;
  readonly description_zh?: unknown;
  readonly tool_ids?: unknown;
}

/** Every draw of these sets begins from it. */
export const SEED = 7;

/** Seeded, so that a second run draws the same samples (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((left, right) => left.order - right.order)
    .map(({ item }) => item);
}

export function readRows(path: string): Row[] {
  const lines = gunzipSync(readFileSync(path)).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Row);
}

export function text(row: Row, key: string): string {
  const value = row[key];
  return typeof value === 'string' ? value : '';
}

/** `weather/find`, `AddToPlaylist` and `pin_change` as words, as the segments of a capability name would be. */
function nameWords(name: string): string {
  return name
    .replace(/(?<=\p{Ll})(?=\p{Lu})|[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

export function capability(
  id: string,
  name: string,
  description: string,
  examples: readonly string[] = [],
): LexicalDocument {
  return { id, name: nameWords(name), aliases: [], descriptions: description === '' ? [] : [description], examples };
}
