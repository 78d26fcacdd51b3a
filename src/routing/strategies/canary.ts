/**
 * A share of the traffic to the agents of a tag or a version, the rest to the others. One affinity key stays on one
 * side; a share that rises takes keys in and lets none out. Belongs before affinity, which leaves a single agent.
 */
import { z } from 'zod';
import type { RegisteredAgent } from '../../registry/index.ts';
import { placeOf } from './key-place.ts';
import { strategyRow } from './strategy.ts';

const filled = z.string().min(1).max(256);

export const canary = strategyRow({
  name: 'canary',
  kind: 'narrow',
  about: 'a share of the traffic to the agents of a tag or a version; sticky by affinity key',
  parameters: z
    .strictObject({
      tag: filled.optional().meta({ description: 'Tag that marks the agents; or give version.' }),
      value: filled.optional().meta({ description: 'Value of that tag; "true" where left out.' }),
      version: filled.optional().meta({ description: 'Version of the agents; a * at the end stands for any rest.' }),
      share: z.number().min(0).max(1).meta({ description: 'Share of the traffic that they get.' }),
    })
    .refine(({ tag, version }) => (tag === undefined) !== (version === undefined), {
      message: 'give either tag or version',
    })
    .refine(({ value, version }) => value === undefined || version === undefined, {
      path: ['value'],
      message: 'is the value of a tag: leave it out where version is given',
    }),
  narrow(candidates, { tag, value = 'true', version, share }, { request, random }) {
    const isCanary = ({ record }: RegisteredAgent): boolean =>
      version === undefined ? tag !== undefined && record.tags[tag] === value : isVersion(record.version, version);
    const canaries = candidates.filter(({ agent }) => isCanary(agent));
    if (canaries.length === 0 || canaries.length === candidates.length) return null;
    const { preferredAgentId, affinityKey } = request;
    if (candidates.some(({ agent }) => agent.record.agentId === preferredAgentId)) {
      return { candidates, note: `${preferredAgentId} is preferred, so no share is taken` };
    }
    const isSticky = affinityKey !== undefined;
    const point = isSticky ? placeOf(`canary\n${affinityKey}`) : random();
    const by = isSticky ? ' by its affinity key' : '';
    if (point < share) return { candidates: canaries, note: `in the canary share of ${share}${by}` };
    return {
      candidates: candidates.filter(({ agent }) => !isCanary(agent)),
      note: `outside the canary share of ${share}${by}`,
    };
  },
});

function isVersion(version: string, wanted: string): boolean {
  return wanted.endsWith('*') ? version.startsWith(wanted.slice(0, -1)) : version === wanted;
}
