/**
 * "Did you mean": the known words within a few edits of a mistyped one. For small lists of keys, flags and fields;
 * costs |given| x |known word| each.
 */

/** Edits (insert, delete, replace, swap of neighbours) that turn one text into the other. */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && isSwap) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}

/** Nearest first; at most a third of the letters may differ (and at least one may). Letter case does not count. */
export function nearestTexts(given: string, known: Iterable<string>, limit = 3): string[] {
  if (given.length > 200) return [];
  const folded = given.toLowerCase();
  const allowed = Math.max(1, Math.floor(folded.length / 3));
  const found: { text: string; distance: number }[] = [];
  for (const text of known) {
    if (Math.abs(text.length - folded.length) > allowed) continue;
    const distance = editDistance(folded, text.toLowerCase());
    if (distance <= allowed) found.push({ text, distance });
  }
  found.sort((left, right) => left.distance - right.distance || (left.text < right.text ? -1 : 1));
  return found.slice(0, limit).map((one) => one.text);
}
