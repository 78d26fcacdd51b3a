/**
 * Damerau-Levenshtein distance (insert, delete, replace, swap of two neighbours; each part of a text is edited once),
 * counted up to `limit`: anything farther answers `limit + 1`. Cost: at most (2 limit + 1) cells a character, and no
 * allocation, since a misspelt name is held against every name of the dictionary.
 */
const MAX_LENGTH = 512;
let beforeLast = new Int32Array(MAX_LENGTH + 2);
let last = new Int32Array(MAX_LENGTH + 2);
let current = new Int32Array(MAX_LENGTH + 2);

export function editDistance(left: string, right: string, limit: number): number {
  const far = limit + 1;
  if (left === right) return 0;
  if (Math.abs(left.length - right.length) > limit) return far;
  if (left.length > MAX_LENGTH || right.length > MAX_LENGTH) return far;
  for (let column = 0; column <= right.length; column++) last[column] = column;
  for (let row = 1; row <= left.length; row++) {
    const from = Math.max(1, row - limit);
    const to = Math.min(right.length, row + limit);
    let rowMinimum = from === 1 ? row : far;
    current[from - 1] = rowMinimum;
    const code = left.charCodeAt(row - 1);
    for (let column = from; column <= to; column++) {
      const same = code === right.charCodeAt(column - 1);
      let cost = (last[column - 1] ?? far) + (same ? 0 : 1);
      // The cell above the band's right edge was never written in the last row.
      if (column < row + limit) cost = Math.min(cost, (last[column] ?? far) + 1);
      cost = Math.min(cost, (current[column - 1] ?? far) + 1);
      const swapped =
        row > 1 &&
        column > 1 &&
        code === right.charCodeAt(column - 2) &&
        left.charCodeAt(row - 2) === right.charCodeAt(column - 1);
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? far) + 1);
      current[column] = cost;
      if (cost < rowMinimum) rowMinimum = cost;
    }
    if (rowMinimum > limit) return far;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return Math.min(far, last[right.length] ?? far);
}
