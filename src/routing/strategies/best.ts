import { z } from 'zod';
import { strategyRow } from './strategy.ts';
import { twoChoices } from './two-choices.ts';

/** Scores this close are equal: floating point must not decide between equal agents. */
const EQUAL_SCORE = 1e-9;

export const best = strategyRow({
  name: 'best',
  kind: 'draw',
  about: 'the highest score; between equals the less loaded of two drawn at random',
  parameters: z.strictObject({
    within: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .meta({ description: 'How far under the highest score still counts as equal; higher spreads the work.' }),
  }),
  narrow(candidates, { within }, { random }) {
    const top = candidates[0]?.score ?? 0;
    const equals = candidates.filter((candidate) => top - candidate.score <= within + EQUAL_SCORE);
    const note =
      candidates.length === 1
        ? 'the only candidate'
        : equals.length === 1
          ? `the highest score of ${candidates.length}`
          : `the less loaded of two of ${equals.length} equals among ${candidates.length}`;
    return { candidates: [twoChoices(equals, random)], note };
  },
});
