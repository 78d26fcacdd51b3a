/**
 * Finds which rules of a large set may match a text, in one pass over the text: `exact` patterns by the whole text,
 * `prefix` and `contains` patterns by their first two characters, looked up at each place. Regexes cannot be looked
 * up and are left to the caller. Cost: the length of the text plus the patterns that begin alike.
 */
import type { CompiledRule } from './compiled-rule.ts';
import { isBoundary } from './rule-text.ts';

interface Entry {
  readonly position: number;
  readonly text: string;
  readonly isPrefix: boolean;
}

/** Two code units as one number; a single unit has a key of its own. */
const keyOf = (first: number, second: number): number => first * 0x10000 + second;

function append<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

export class PatternIndex {
  readonly #exact = new Map<string, number[]>();
  readonly #byStart = new Map<number, Entry[]>();
  readonly #bySingle = new Map<number, Entry[]>();

  constructor(rules: readonly CompiledRule[]) {
    for (const [position, compiled] of rules.entries()) {
      for (const { match, text } of compiled.patterns) {
        if (match === 'exact') append(this.#exact, text, position);
        else if (match !== 'regex') this.#add({ position, text, isPrefix: match === 'prefix' });
      }
    }
  }

  #add(entry: Entry): void {
    const first = entry.text.charCodeAt(0);
    if (entry.text.length === 1) append(this.#bySingle, first, entry);
    else append(this.#byStart, keyOf(first, entry.text.charCodeAt(1)), entry);
  }

  /** Positions, each once, rising, of the rules of which a text pattern is found. */
  find(text: string): number[] {
    const found = new Set<number>(this.#exact.get(text));
    for (let at = 0; at < text.length; at++) {
      const first = text.charCodeAt(at);
      collect(this.#bySingle.get(first), text, at, found);
      if (at + 1 < text.length) collect(this.#byStart.get(keyOf(first, text.charCodeAt(at + 1))), text, at, found);
    }
    return [...found].sort((left, right) => left - right);
  }
}

function collect(entries: readonly Entry[] | undefined, text: string, at: number, found: Set<number>): void {
  if (entries === undefined) return;
  for (const entry of entries) {
    if (entry.isPrefix && at !== 0) continue;
    if (!text.startsWith(entry.text, at)) continue;
    if (isBoundary(text, at) && isBoundary(text, at + entry.text.length)) found.add(entry.position);
  }
}
