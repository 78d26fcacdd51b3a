/**
 * The preferred agent, else the same agent for the same key by rendezvous hashing: each key has its own order of all
 * agents, and goes to the first that is free. When agents come, go or fill up, only the keys of those agents move.
 */
import { z } from 'zod';
import type { ScoredCandidate } from '../rerank.ts';
import { placeOf } from './key-place.ts';
import { type Narrowed, strategyRow } from './strategy.ts';

export const affinity = strategyRow({
  name: 'affinity',
  kind: 'narrow',
  about: 'the preferred agent, else the agent that owns the affinity key; spills over to the next of its order',
  parameters: z.strictObject({
    maxLoad: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .meta({ description: 'Load above which an agent counts as full and its keys spill over; 1: when it is full.' }),
  }),
  narrow(candidates, { maxLoad }, { request }) {
    const { preferredAgentId, affinityKey } = request;
    let passedOver = '';
    if (preferredAgentId !== undefined) {
      const preferred = ofAgent(candidates, preferredAgentId);
      const [first] = preferred;
      if (first !== undefined && first.load <= maxLoad) {
        return { candidates: preferred, note: `${preferredAgentId} is preferred` };
      }
      passedOver = `${preferredAgentId} is preferred but ${first === undefined ? 'no candidate' : 'full'}`;
    }
    if (affinityKey === undefined) return passedOver === '' ? null : { candidates, note: passedOver };
    const narrowed = byKey(candidates, affinityKey, maxLoad);
    return passedOver === '' ? narrowed : { ...narrowed, note: `${passedOver}; ${narrowed.note}` };
  },
});

function byKey(candidates: readonly ScoredCandidate[], key: string, maxLoad: number): Narrowed {
  let owner: string | undefined;
  let taker: string | undefined;
  let highest = -1;
  let highestFree = -1;
  for (const { agent, load } of candidates) {
    const { agentId } = agent.record;
    const place = placeOf(`${agentId}\n${key}`);
    if (place > highest) [highest, owner] = [place, agentId];
    if (place > highestFree && load <= maxLoad) [highestFree, taker] = [place, agentId];
  }
  // Everybody is over the limit: then nobody is fuller than the others in a way that counts, and the owner stays.
  const chosen = taker ?? owner ?? '';
  const note =
    chosen === owner
      ? `${chosen} owns this affinity key`
      : `${owner} owns this affinity key but is full: ${chosen} is next`;
  return { candidates: ofAgent(candidates, chosen), note };
}

/** One agent may stand for two capabilities. */
function ofAgent(candidates: readonly ScoredCandidate[], agentId: string): ScoredCandidate[] {
  return candidates.filter((candidate) => candidate.agent.record.agentId === agentId);
}
