import { z } from 'zod';
import { strategyRow } from './strategy.ts';

export const failureDomain = strategyRow({
  name: 'failure_domain',
  kind: 'narrow',
  about: "the caller's own zone, while it has an agent that is free enough",
  parameters: z.strictObject({
    maxLoad: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .meta({ description: 'Load above which an agent of the zone counts as full; 1: until its last slot is taken.' }),
  }),
  narrow(candidates, { maxLoad }, { request }) {
    const { zone } = request;
    if (zone === undefined) return null;
    const inZone = candidates.filter((candidate) => candidate.agent.record.zone === zone);
    if (inZone.length === 0) return { candidates, note: `no candidate in zone ${zone}, all zones stay` };
    const near = inZone.filter((candidate) => candidate.load <= maxLoad);
    if (near.length > 0)
      return { candidates: near, note: `${near.length} of ${candidates.length} are in zone ${zone}` };
    return { candidates, note: `zone ${zone} is over the load of ${maxLoad}, all zones stay` };
  },
});
