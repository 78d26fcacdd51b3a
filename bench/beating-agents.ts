/** Agents by the thousand and the batches in which they beat: registered for good, no beat of theirs is ever missed. */
import { load, post } from './http-load.ts';
import { type Finding, shown } from './report.ts';

/** Beats in one call. */
export const BATCH = 500;

interface Held {
  readonly agentId: string;
  readonly leaseId: string;
}

export function registrationOf(agentId: string, capability: string): string {
  const transport = { type: 'local' };
  return JSON.stringify({ agentId, capabilities: [capability], transport, heartbeatIntervalMs: 3_600_000 });
}

/** Registers `agent-0`, `agent-1`, ... side by side, since each waits for its own flush; answers bodies of batches. */
export async function registerBeating(
  url: string,
  count: number,
  capabilityOf: (n: number) => string,
): Promise<string[]> {
  const held: Held[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const i = next++;
      const agentId = `agent-${i}`;
      const { status, text } = await post(`${url}/v1/agents`, registrationOf(agentId, capabilityOf(i)));
      if (status > 201) throw new Error(text);
      held.push({ agentId, leaseId: (JSON.parse(text) as Held).leaseId });
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  return batchesOf(held);
}

function batchesOf(held: readonly Held[]): string[] {
  const batches: string[] = [];
  for (let first = 0; first < held.length; first += BATCH) {
    const beats = held
      .slice(first, first + BATCH)
      .map(({ agentId, leaseId }, i) => ({ agentId, leaseId, load: { active: i % 4, queued: 0, max: 8 } }));
    batches.push(JSON.stringify({ beats }));
  }
  return batches;
}

export interface BeatsPlan {
  readonly what: string;
  readonly batches: readonly string[];
  readonly beats: number;
  readonly target: number;
}

/** Beats a second that are taken, each of them: a call that refuses one fails the run. */
export async function beatsHeld(url: string, { what, batches, beats, target }: BeatsPlan): Promise<Finding> {
  const { perSecond, p99Ms } = await load({
    url: `${url}/v1/heartbeats`,
    concurrency: 4,
    requests: Math.ceil(beats / BATCH),
    body: (n) => batches[n % batches.length] ?? '',
    assertAnswer: assertAllTaken,
  });
  const taken = perSecond * BATCH;
  return {
    what,
    measured: `${shown(taken)}/s`,
    target: `>= ${target.toLocaleString('en')}/s`,
    isMet: taken >= target,
    note: `${batches.length * BATCH} agents, p99 of a call ${shown(p99Ms)} ms`,
    figures: { beats: taken, p99Ms },
  };
}

export function assertAllTaken(reply: string): void {
  const { refused } = JSON.parse(reply) as { refused: number };
  if (refused !== 0) throw new Error(`${refused} beats of a batch were refused`);
}
