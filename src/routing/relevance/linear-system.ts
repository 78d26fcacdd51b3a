/** Gaussian elimination with pivoting. */
export function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((line, at) => [...line, right[at] ?? 0]);
  for (let column = 0; column < rows.length; column += 1) {
    const rest = rows.slice(column).sort((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0));
    rows.splice(column, rest.length, ...rest);
    const pivot = rows[column] ?? [];
    for (const [at, line] of rows.entries()) {
      if (at === column) continue;
      const factor = (line[column] ?? 0) / (pivot[column] ?? 1);
      rows[at] = line.map((value, position) => value - factor * (pivot[position] ?? 0));
    }
  }
  return rows.map((line, at) => (line.at(-1) ?? 0) / (line[at] ?? 1));
}
