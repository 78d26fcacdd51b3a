import { z } from 'zod';
import { strategyRow } from './strategy.ts';
import { twoChoices } from './two-choices.ts';

export const capacityFirst = strategyRow({
  name: 'capacity_first',
  kind: 'draw',
  about: "at random, weighted by free slots, among the agents of the best candidate's capability",
  parameters: z.strictObject({}),
  narrow(candidates, _parameters, { random }) {
    const same = candidates.filter((candidate) => candidate.capability === candidates[0]?.capability);
    const total = same.reduce((sum, candidate) => sum + candidate.freeSlots * candidate.weight, 0);
    const slots = same.reduce((sum, candidate) => sum + candidate.freeSlots, 0);
    const note = `from ${same.length} candidates, by ${slots} free slots`;
    let point = random() * total;
    for (const candidate of same) {
      point -= candidate.freeSlots * candidate.weight;
      if (point < 0) return { candidates: [candidate], note };
    }
    // No slot is free, or the sum was rounded.
    return { candidates: [twoChoices(same, random)], note };
  },
});
