/**
 * The known name that was probably meant, or undefined: at most a third of the letters may differ (one edit is an
 * insertion, a removal, a change or a swap of neighbours). Case, `_` and `-` do not count. Cost: the lengths
 * multiplied, for each known name; names over 64 letters are not compared.
 */
export function nearestName(raw: string, known: Iterable<string>): string | undefined {
  const wanted = folded(raw);
  if (wanted === '' || wanted.length > 64) return undefined;
  let best: string | undefined;
  let bestEdits = Math.floor(Math.max(3, wanted.length) / 3) + 1;
  for (const name of known) {
    const candidate = folded(name);
    if (Math.abs(candidate.length - wanted.length) >= bestEdits) continue;
    const edits = editDistance(wanted, candidate);
    if (edits < bestEdits) {
      best = name;
      bestEdits = edits;
    }
  }
  return best;
}

const folded = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

/** Optimal string alignment: Damerau-Levenshtein without edits inside a swapped pair. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const changed = left[row - 1] === right[column - 1] ? 0 : 1;
      let edits = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + changed,
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      current.push(edits);
    }
    before = above;
    above = current;
  }
  return above[right.length] ?? 0;
}
