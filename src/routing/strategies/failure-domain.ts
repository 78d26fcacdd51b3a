import type { RoutingStrategy } from './strategy.ts';

/** The caller's own zone, while it has a candidate. */
export const failureDomain: RoutingStrategy = {
  name: 'failure_domain',
  narrow(candidates, { request }) {
    if (request.zone === undefined) return null;
    const near = candidates.filter((candidate) => candidate.agent.record.zone === request.zone);
    if (near.length === 0) return { candidates, note: `no candidate in zone ${request.zone}, all zones stay` };
    return { candidates: near, note: `${near.length} of ${candidates.length} are in zone ${request.zone}` };
  },
};
