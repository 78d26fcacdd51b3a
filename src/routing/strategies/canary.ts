import { createHash } from 'node:crypto';
import type { RoutingStrategy } from './strategy.ts';

/** A share of the traffic to agents with a tag, the rest to the others; one affinity key stays on one side. */
export const canary: RoutingStrategy = {
  name: 'canary',
  narrow(candidates, { options, request, random }) {
    if (options.canary === undefined) return null;
    const { tag, value, share } = options.canary;
    const inCanary = candidates.filter((candidate) => candidate.agent.record.tags[tag] === value);
    if (inCanary.length === 0 || inCanary.length === candidates.length) return null;
    const point = request.affinityKey === undefined ? random() : pointOf(request.affinityKey);
    if (point < share) return { candidates: inCanary, note: `in the canary share of ${share}` };
    return {
      candidates: candidates.filter((candidate) => !inCanary.includes(candidate)),
      note: `outside the canary share of ${share}`,
    };
  },
};

/** A key's fixed place in 0..1. */
function pointOf(key: string): number {
  return createHash('sha256').update(`canary\n${key}`).digest().readUInt32BE(0) / 2 ** 32;
}
