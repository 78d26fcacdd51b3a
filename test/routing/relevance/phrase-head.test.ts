import { describe, expect, it } from 'vitest';
import { minimise } from '../../../src/routing/relevance/lbfgs.ts';
import {
  crossValidate,
  type PhraseClass,
  PhraseHead,
  trainPhraseHead,
} from '../../../src/routing/relevance/phrase-head.ts';
import { seededRandom } from '../agents.ts';

const DIMENSIONS = 16;

function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (one) => one / length);
}

/** Classes differ in their own dimension; the noise of the last dimensions is larger and says nothing. */
function classesOf(count: number, phrases: number, noise: number): PhraseClass[] {
  const random = seededRandom(5);
  const one = (own: number): Float32Array =>
    unit(
      Array.from({ length: DIMENSIONS }, (_, i) => (i === own ? 1 : 0) + (i >= count ? noise * (random() - 0.5) : 0)),
    );
  return Array.from({ length: count }, (_, own) => ({
    name: `class ${own}`,
    phrases: Array.from({ length: phrases }, () => one(own)),
    anchors: [],
  }));
}

describe('minimise', () => {
  it('finds the least of a stretched bowl', () => {
    const point = minimise(
      ([x = 0, y = 0], gradient) => {
        gradient[0] = 2 * (x - 3);
        gradient[1] = 200 * (y + 1);
        return (x - 3) ** 2 + 100 * (y + 1) ** 2;
      },
      { size: 2, steps: 50 },
    );
    expect(point[0]).toBeCloseTo(3, 2);
    expect(point[1]).toBeCloseTo(-1, 3);
  });
});

describe('phrase head', () => {
  it('looks past what all classes share, where the nearest phrase does not', () => {
    const score = crossValidate(classesOf(6, 8, 6));
    expect(score.phrases).toBe(48);
    expect(score.head).toBeGreaterThan(score.nearest);
  });

  it('learns the same numbers from the same phrases', () => {
    const classes = classesOf(4, 5, 2);
    expect(trainPhraseHead(classes)).toEqual(trainPhraseHead(classes));
  });

  it('says nothing of a capability that it did not learn', () => {
    const weights = trainPhraseHead(classesOf(3, 4, 1));
    if (weights === undefined) throw new Error('no head');
    expect(new PhraseHead(weights).logit('another', new Float32Array(DIMENSIONS))).toBeUndefined();
  });

  it('is not trained for one class alone, nor for more than it could learn in half a minute', () => {
    expect(trainPhraseHead(classesOf(1, 8, 1))).toBeUndefined();
    const [one = { name: '', phrases: [], anchors: [] }] = classesOf(1, 8, 1);
    const many = Array.from({ length: 12_000 }, (_, at) => ({ ...one, name: `${at}` }));
    expect(trainPhraseHead(many)).toBeUndefined();
  });
});
