/**
 * Finds which rules of a large set may match a text: `exact` patterns by the whole text, `prefix` and `contains`
 * patterns by walking a tree of their characters from each place of the text. Regexes cannot be looked up and are
 * left to the caller. Cost: per place the longest pattern start found there, however many patterns share it.
 */
import type { CompiledRule } from './compiled-rule.ts';
import { isBoundary } from './rule-text.ts';

interface Node {
  readonly next: Map<number, Node>;
  /** Positions of the rules of which a pattern ends here. */
  readonly prefixes: number[];
  readonly anywhere: number[];
}

const newNode = (): Node => ({ next: new Map(), prefixes: [], anywhere: [] });

export class PatternIndex {
  readonly #exact = new Map<string, number[]>();
  readonly #root = newNode();

  constructor(rules: readonly CompiledRule[]) {
    for (const [position, compiled] of rules.entries()) {
      for (const { match, text } of compiled.patterns) {
        if (match === 'exact') this.#addExact(text, position);
        else if (match !== 'regex') this.#nodeOf(text)[match === 'prefix' ? 'prefixes' : 'anywhere'].push(position);
      }
    }
  }

  #addExact(text: string, position: number): void {
    const list = this.#exact.get(text);
    if (list === undefined) this.#exact.set(text, [position]);
    else list.push(position);
  }

  #nodeOf(text: string): Node {
    let node = this.#root;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      let next = node.next.get(code);
      if (next === undefined) {
        next = newNode();
        node.next.set(code, next);
      }
      node = next;
    }
    return node;
  }

  /** Positions, each once, rising, of the rules of which a text pattern is found. */
  find(text: string): number[] {
    const found = new Set<number>(this.#exact.get(text));
    for (let at = 0; at < text.length; at++) {
      let node = this.#root.next.get(text.charCodeAt(at));
      if (node === undefined || !isBoundary(text, at)) continue;
      for (let end = at + 1; node !== undefined; end++) {
        const { prefixes, anywhere }: Node = node;
        if (anywhere.length + prefixes.length > 0 && isBoundary(text, end)) {
          for (const position of anywhere) found.add(position);
          if (at === 0) for (const position of prefixes) found.add(position);
        }
        node = end < text.length ? node.next.get(text.charCodeAt(end)) : undefined;
      }
    }
    return [...found].sort((left, right) => left - right);
  }
}
