/** Six decimals: enough to recompute a score from its parts, short enough for a small reply. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Milliseconds to the microsecond. */
export function roundedMs(value: number): number {
  return Math.round(value * 1e3) / 1e3;
}
