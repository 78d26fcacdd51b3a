import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { TallyHistogram } from '../../src/telemetry/tally-histogram.ts';

it("tells what prom-client's own histogram tells of the same observations", async () => {
  const observation = fc.record({
    stage: fc.constantFrom('embed', 'total'),
    value: fc.double({ min: 0, max: 3, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(observation, { minLength: 1, maxLength: 30 }), async (observations) => {
      const options = { name: 'm', help: 'h', labelNames: ['stage'], buckets: [0.1, 0.5, 1] };
      const [ours, theirs] = [new Registry(), new Registry()];
      const tallied = new TallyHistogram({ ...options, registers: [ours] });
      const observed = new Histogram({ ...options, registers: [theirs] });
      for (const { stage, value } of observations) {
        tallied.tally(stage, { stage }, value);
        observed.observe({ stage }, value);
      }
      const lines = async (registry: Registry) => (await registry.metrics()).split('\n').sort();
      expect(await lines(ours)).toEqual(await lines(theirs));
    }),
  );
});
