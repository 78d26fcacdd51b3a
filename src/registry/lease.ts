/**
 * The arithmetic of leases, without a clock: a lease is granted for some heartbeat intervals (three by default), every
 * beat renews it in full, and beats are asked for with jitter so that a fleet started together does not beat together.
 */

/** +-10 %. */
export const JITTER_SHARE = 0.1;
/** Share of the way to `expiresAt` from which every reply warns. */
export const EXPIRY_WARNING_SHARE = 0.8;

/** How late a beat may come, beyond the jitter that was asked for, before it counts as missed. */
const GRACE_MS = 2_000;

/** From when on the first beat counts as missed: the latest moment it was asked for, and some grace. */
export function firstMissMs(heartbeatIntervalMs: number): number {
  // Half an interval where that is less: agents that beat ten times a second are missed within two beats.
  return (1 + JITTER_SHARE) * heartbeatIntervalMs + Math.min(GRACE_MS, heartbeatIntervalMs / 2);
}

/** When beat number `count` since `heardAtMs` counts as missed. */
export function missedBeatAt(heardAtMs: number, heartbeatIntervalMs: number, count: number): number {
  return heardAtMs + firstMissMs(heartbeatIntervalMs) + (count - 1) * heartbeatIntervalMs;
}

/** How many beats are missed by `nowMs`. */
export function missedBeatsAt(heardAtMs: number, heartbeatIntervalMs: number, nowMs: number): number {
  const overMs = nowMs - heardAtMs - firstMissMs(heartbeatIntervalMs);
  return overMs < 0 ? 0 : 1 + Math.floor(overMs / heartbeatIntervalMs);
}

/** `missedBeats`: how many intervals without a beat end the lease; never before a beat can be missed at all. */
export function leaseDeadline(renewedAtMs: number, heartbeatIntervalMs: number, missedBeats: number): number {
  return renewedAtMs + Math.max(missedBeats * heartbeatIntervalMs, firstMissMs(heartbeatIntervalMs));
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
