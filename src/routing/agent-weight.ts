/** How much of its score an agent keeps: half while it is doubted, a growing part while it is new. */
import type { RegisteredAgent } from '../registry/index.ts';

const SUSPECT_WEIGHT = 0.5;
const LEAST_WARM_WEIGHT = 0.1;

export function isWarm({ liveness }: RegisteredAgent, nowMs: number): boolean {
  return liveness.warmUp === null || nowMs >= liveness.warmUp.until;
}

/** `isRampOn`: another agent of the capability is warm, so that there is somebody to spare the new one. */
export function weightOf(agent: RegisteredAgent, nowMs: number, isRampOn: boolean): number {
  return healthWeight(agent) * (isRampOn ? warmWeight(agent, nowMs) : 1);
}

function healthWeight({ liveness }: RegisteredAgent): number {
  return liveness.state === 'online' ? 1 : SUSPECT_WEIGHT;
}

function warmWeight(agent: RegisteredAgent, nowMs: number): number {
  const { warmUp } = agent.liveness;
  if (warmUp === null || isWarm(agent, nowMs)) return 1;
  const share = Math.max(0, (nowMs - warmUp.from) / (warmUp.until - warmUp.from));
  return LEAST_WARM_WEIGHT + (1 - LEAST_WARM_WEIGHT) * share;
}

/** In words, for `explain`; null for an agent with its full weight. */
export function weightNote(agent: RegisteredAgent, weight: number): string | null {
  if (weight >= 1) return null;
  const notes: string[] = [];
  if (healthWeight(agent) < 1) notes.push(`${agent.liveness.state} (${agent.liveness.reason}) counts half`);
  if (weight < healthWeight(agent)) notes.push('new: its weight grows over its first seconds');
  return notes.join('; ');
}
