import { nextTurn } from '../core/index.ts';

/** Parsed between two turns of the event loop: about a millisecond. */
const PIECE_LETTERS = 1 << 18;

/**
 * What `JSON.parse` gives for a list of strings that `JSON.stringify` wrote, in pieces, so that a long list blocks
 * nobody.
 */
export async function* parseStrings(json: string, pieceLetters = PIECE_LETTERS): AsyncGenerator<string[], undefined> {
  let start = 0;
  for (;;) {
    const cut = cutAfter(json, start, pieceLetters);
    const piece = json.slice(start, cut === -1 ? undefined : cut + 1);
    const list: unknown = JSON.parse(`${start === 0 ? '' : '['}${piece}${cut === -1 ? '' : ']'}`);
    yield list as string[];
    if (cut === -1) return undefined;
    start = cut + 2;
    await nextTurn();
  }
}

/** Where a string ends that another one follows, `least` letters on or more; -1 where none does any more. */
function cutAfter(json: string, start: number, least: number): number {
  for (let open = start === 0 ? 1 : start; json[open] === '"'; ) {
    let close = json.indexOf('"', open + 1);
    while (isEscaped(json, close)) close = json.indexOf('"', close + 1);
    if (json[close + 1] !== ',') return -1;
    if (close >= start + least) return close;
    open = close + 2;
  }
  return -1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}
