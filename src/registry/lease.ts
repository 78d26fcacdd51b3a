/**
 * The arithmetic of leases, without a clock: a lease is granted for some heartbeat intervals (three by default), every
 * beat renews it in full, and beats are asked for with jitter so that a fleet started together does not beat together.
 */

/** +-10 %. */
export const JITTER_SHARE = 0.1;
/** Share of the way to `expiresAt` from which every reply warns. */
export const EXPIRY_WARNING_SHARE = 0.8;

/** `missedBeats`: how many intervals without a beat make an agent offline. */
export function leaseDeadline(renewedAtMs: number, heartbeatIntervalMs: number, missedBeats: number): number {
  return renewedAtMs + missedBeats * heartbeatIntervalMs;
}

/** A lease holds until its deadline and no longer. */
export function isExpired(deadlineMs: number, nowMs: number): boolean {
  return nowMs >= deadlineMs;
}

/** When to beat next. `random` is 0..1; the answer is whole milliseconds, at least one. */
export function nextHeartbeatMs(heartbeatIntervalMs: number, random: number): number {
  return Math.max(1, Math.round(heartbeatIntervalMs * (1 + JITTER_SHARE * (2 * random - 1))));
}

export function isExpirySoon(registeredAt: number, expiresAt: number, nowAt: number): boolean {
  return nowAt >= registeredAt + EXPIRY_WARNING_SHARE * (expiresAt - registeredAt);
}
