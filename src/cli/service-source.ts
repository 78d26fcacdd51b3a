/** A running service as something to evaluate: its own API, asked to measure, so that nobody takes it for callers. */
import type { RouteSource } from '../app/index.ts';
import type { CapabilityView } from '../contract/index.ts';
import type { ReachClient } from '../sdk/index.ts';

export function serviceSource(client: ReachClient): RouteSource {
  return {
    route: (request) => client.route({ ...request, probe: true }),
    routeBatch: async (requests) =>
      (await client.routeBatch(requests.map((request) => ({ ...request, probe: true })))).results,
    async capabilities() {
      const views: CapabilityView[] = [];
      for await (const one of client.capabilities.all({ limit: 500 })) views.push(one);
      return views;
    },
  };
}
