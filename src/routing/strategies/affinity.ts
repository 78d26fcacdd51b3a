import { createHash } from 'node:crypto';
import type { ScoredCandidate } from '../rerank.ts';
import type { RoutingStrategy } from './strategy.ts';

/**
 * The preferred agent, else the same agent for the same key by rendezvous hashing: when agents come or go, only the
 * keys of those agents move. Spills over by itself, since a full or dead agent is no candidate.
 */
export const affinity: RoutingStrategy = {
  name: 'affinity',
  narrow(candidates, { request }) {
    if (request.preferredAgentId !== undefined) {
      const preferred = candidates.filter((candidate) => candidate.agent.record.agentId === request.preferredAgentId);
      if (preferred.length > 0) return { candidates: preferred, note: `${request.preferredAgentId} is preferred` };
    }
    if (request.affinityKey === undefined) return null;
    const owner = rendezvousOwner(request.affinityKey, candidates);
    if (owner === undefined) return null;
    return { candidates: [owner], note: `${owner.agent.record.agentId} owns this affinity key` };
  },
};

function rendezvousOwner(key: string, candidates: readonly ScoredCandidate[]): ScoredCandidate | undefined {
  let owner: ScoredCandidate | undefined;
  let highest = '';
  for (const candidate of candidates) {
    const weight = createHash('sha256').update(`${candidate.agent.record.agentId}\n${key}`).digest('hex');
    // One agent may stand for two capabilities; candidates come best first, so the first of them is kept.
    if (weight > highest) {
      highest = weight;
      owner = candidate;
    }
  }
  return owner;
}
