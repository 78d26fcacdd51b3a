import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CapabilityName } from '../../src/core/index.ts';
import { makeBench, registrationOf } from './registry-bench.ts';

const NAMES = ['weather.query.city', 'mail.send.text', 'order.track.parcel'];
const NAMESPACES = ['default', 'other'];

const move = fc.record({
  agentId: fc.constantFrom('a', 'b', 'c', 'd'),
  leaves: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  namespace: fc.constantFrom(...NAMESPACES),
  names: fc.subarray(NAMES, { minLength: 1 }),
  description: fc.constantFrom('one', 'two', undefined),
});

test('shows what a naive model shows after registrations and withdrawals in any interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(move, { maxLength: 8 }), { maxLength: 4 }), async (rounds) => {
      const bench = makeBench();
      const model = new Map<string, { namespace: string; names: string[]; description: string | undefined }>();
      for (const round of rounds) {
        // Side by side within a round; the lane of each agent keeps its own order.
        await Promise.allSettled(
          round.map(({ agentId, leaves, namespace, names, description }) => {
            if (leaves) {
              model.delete(agentId);
              return bench.registry.withdraw(agentId, null);
            }
            model.set(agentId, { namespace, names, description });
            const capabilities = names.map((name) => ({ name, description }));
            return bench.registry.register(registrationOf(agentId, { namespace, capabilities }));
          }),
        );
        for (const namespace of NAMESPACES) {
          for (const name of NAMES) {
            const expected = [...model].filter(([, one]) => one.namespace === namespace && one.names.includes(name));
            const { view } = bench.registry;
            const agents = view.agentsOf(namespace, name as CapabilityName).map((agent) => agent.record.agentId);
            expect(agents.sort()).toEqual(expected.map(([agentId]) => agentId).sort());
            expect(view.hasCapability(namespace, name)).toBe(expected.length > 0);
            const texts = new Set(expected.flatMap(([, one]) => one.description ?? []));
            expect(bench.index.current.get(`${namespace}/${name}`)?.descriptions).toEqual(
              expected.length === 0 ? undefined : [...texts].sort(),
            );
          }
        }
        const stored = (await bench.store.load()).agents.map((record) => record.agentId);
        expect(stored.sort()).toEqual([...model.keys()].sort());
      }
    }),
    { numRuns: 150 },
  );
});
