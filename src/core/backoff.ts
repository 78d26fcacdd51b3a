/**
 * Exponential wait before attempt `attemptNo` (from 1): `baseMs * 2^(attemptNo - 1)`, at most `capMs`, spread by
 * +-`jitterShare` so that many waiters do not return together. Pure: the random number is handed in (0..1).
 */
export function backoffMs(
  attemptNo: number,
  options: { readonly baseMs: number; readonly capMs: number; readonly jitterShare?: number },
  random = 0.5,
): number {
  const plain = Math.min(options.capMs, options.baseMs * 2 ** Math.min(30, Math.max(0, attemptNo - 1)));
  const spread = options.jitterShare ?? 0.2;
  return plain * (1 + spread * (2 * random - 1));
}
