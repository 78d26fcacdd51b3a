import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CapabilityName } from '../../../src/core/index.ts';
import type { ModelCalibration, RegimeWeights } from '../../../src/embedding/index.ts';
import { type IndexedCapability, indexedCapability } from '../../../src/routing/indexed-capability.ts';
import { curvatureOf, fitConditional, type Question } from '../../../src/routing/relevance/conditional-fit.ts';
import { askHeldOut, type HeldOutPhrase } from '../../../src/routing/relevance/held-out-evidence.ts';
import { learnOwnRanking } from '../../../src/routing/relevance/own-ranking.ts';
import { learnFromPhrases } from '../../../src/routing/relevance/phrase-learning.ts';
import { RANKING_FEATURES } from '../../../src/routing/relevance/relevance-model.ts';
import { seededRandom } from '../agents.ts';
import { CALIBRATION } from '../router-rig.ts';

const LEARNT: RegimeWeights = {
  ranking: { best: 10 },
  trust: { best: 10, constant: -2 },
  curvature: RANKING_FEATURES.map((_, row) => RANKING_FEATURES.map((_, column) => (row === column ? 0.01 : 0))),
};

function calibrated(learnt: RegimeWeights): ModelCalibration {
  const other: RegimeWeights = { ranking: { best: 10 }, trust: { best: 10, constant: -2 } };
  const regimes = { names: other, texts: other, phrases: other, head: other, learnt };
  return { ...CALIBRATION, fitted: { fingerprint: 'test', regimes } };
}

const DIMENSIONS = 16;

/** Capabilities whose phrases differ in one dimension and share louder ones that say nothing: a head sees through. */
function noisyRegistry(
  count: number,
  phrases: number,
): { entries: IndexedCapability[]; vectors: Map<string, Float32Array> } {
  const random = seededRandom(5);
  const vectors = new Map<string, Float32Array>();
  const entries = Array.from({ length: count }, (_, own) => {
    const entry = indexedCapability({
      namespace: 'default',
      name: `kind.of.n${own}` as CapabilityName,
      sensitive: false,
      descriptions: [],
      aliases: [],
      examples: Array.from({ length: phrases }, (_, at) => `says ${own} ${at}`),
    });
    for (const { hash, kind } of entry.texts) {
      const noise = kind === 'name' ? 0 : 6;
      const numbers = Array.from(
        { length: DIMENSIONS },
        (_, i) => (i === own ? 1 : 0) + (i >= count ? noise * (random() - 0.5) : 0),
      );
      const length = Math.hypot(...numbers);
      vectors.set(
        hash,
        Float32Array.from(numbers, (one) => one / length),
      );
    }
    return entry;
  });
  return { entries, vectors };
}

function classesOf({ entries, vectors }: ReturnType<typeof noisyRegistry>) {
  return entries.map(({ name, texts }) => {
    const of = (wanted: string) =>
      texts.filter(({ kind }) => kind === wanted).flatMap(({ hash }) => vectors.get(hash) ?? []);
    return { name, phrases: of('example'), anchors: of('name') };
  });
}

/** Phrases of two capabilities; `likes` says how far the head and how far likeness are for the right one. */
function phrasesWhere(count: number, likes: (at: number) => { head: number; best: number }): HeldOutPhrase[] {
  return Array.from({ length: count }, (_, at) => {
    const { head, best } = likes(at);
    const evidenceOf = (sign: number) => {
      const cosine = 0.5 + sign * best;
      const kinds = { best: cosine, name: 0.5, description: 0.5, phrase: 0.5, phraseMean: 0.5 };
      return { ...kinds, phraseCount: 4, descriptionCount: 0, lexicalScore: 0, coverage: 0, headLogit: sign * head };
    };
    const candidates = ['right', 'wrong'].map((name) => ({ entry: { name } })) as never;
    return {
      name: 'right',
      fold: at % 4,
      field: { candidates, evidence: [evidenceOf(1), evidenceOf(-1)], capabilityCount: 2 },
    };
  });
}

describe('what a registry learns of weighing its evidence', () => {
  it('is to believe its head where that sees through what misleads likeness', () => {
    const registry = { ...noisyRegistry(6, 8), calibration: calibrated(LEARNT) };
    const { weights, rankingScore } = learnFromPhrases({ classes: classesOf(registry), registry });
    expect(weights?.ranking?.head).toBeGreaterThan(0);
    expect(rankingScore?.phrases).toBeGreaterThan(24);
    expect(rankingScore?.own.right).toBeGreaterThan(rankingScore?.fitted.right ?? 1);
  });

  it('is nothing where the fitted weights do as well', () => {
    const learnt = learnOwnRanking(
      phrasesWhere(40, (at) => ({ head: at % 2 === 0 ? 1 : -1, best: 0.3 })),
      calibrated(LEARNT),
    );
    expect(learnt?.score.fitted.right).toBe(1);
    expect(learnt?.ranking).toBeUndefined();
  });

  it('is never by its own phrases worse than the fitted weights', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -3, max: 3 })), { minLength: 1 }),
        (rows) => {
          const phrases = phrasesWhere(rows.length, (at) => ({
            head: rows[at]?.[0] ?? 0,
            best: 0.1 * (rows[at]?.[1] ?? 0),
          }));
          const learnt = learnOwnRanking(phrases, calibrated(LEARNT));
          if (learnt?.ranking === undefined) return;
          expect(learnt.score.own.right).toBeGreaterThanOrEqual(learnt.score.fitted.right);
          expect(Math.min(...Object.values(learnt.ranking))).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  it('is asked of folds that it was not learnt from', () => {
    // In three folds the head is right, in the last it is wrong: what is learnt elsewhere loses there.
    const phrases = phrasesWhere(80, (at) => ({ head: at % 4 === 3 ? -1 : 1, best: at % 4 === 3 ? 0.02 : -0.02 }));
    const { score } = learnOwnRanking(phrases, calibrated(LEARNT)) ?? {};
    expect(score?.fitted.right).toBe(0.25);
    expect(score?.own.right).toBe(0.75);
  });

  it('is nothing from fields that the head has learnt in part, nor where the fit left nothing to begin from', () => {
    const phrases = phrasesWhere(40, () => ({ head: 1, best: -0.1 }));
    expect(learnOwnRanking(phrases, calibrated(LEARNT))?.ranking?.head).toBeGreaterThan(0);
    const partly = phrases.map(({ field, ...phrase }) => {
      const [right, wrong] = field.evidence ?? [];
      return { ...phrase, field: { ...field, evidence: [right, { ...wrong, headLogit: undefined }] as never } };
    });
    expect(learnOwnRanking(partly, calibrated(LEARNT))).toBeUndefined();
    const { curvature: _, ...bare } = LEARNT;
    expect(learnOwnRanking(phrases, calibrated(bare))).toBeUndefined();
    expect(learnOwnRanking(phrases, CALIBRATION)).toBeUndefined();
  });
});

describe('phrases held out', () => {
  it('are each asked once, of everything but those of their fold', () => {
    const registry = { ...noisyRegistry(4, 8), calibration: calibrated(LEARNT) };
    const asked = askHeldOut(registry, () => undefined);
    expect(asked).toHaveLength(32);
    expect(new Set(asked.map(({ name, fold }) => `${name} ${fold}`)).size).toBe(16);
    for (const { field } of asked) {
      expect(Math.max(...(field.evidence ?? []).map(({ best }) => best))).toBeLessThan(0.9999);
      expect(field.evidence?.every(({ phraseCount }) => phraseCount === 6)).toBe(true);
    }
  });
});

describe('fitConditional', () => {
  const question = (right: readonly number[], wrong: readonly number[]): Question => ({
    rows: [right, wrong],
    isRight: [true, false],
    weight: 1,
  });
  const prior = {
    weights: [2, 1],
    curvature: [
      [4, 0],
      [0, 4],
    ],
  };

  it('gives the prior back where no question says anything', () => {
    expect(fitConditional([], prior)).toEqual([2, 1]);
    expect(fitConditional([question([1, 1], [1, 1])], prior)).toEqual([2, 1]);
  });

  it('moves from the prior as far as the questions outweigh it, and never under 0', () => {
    const questions = Array.from({ length: 20 }, () => question([1, 0], [0, 1]));
    const [up = 0, down = 1] = fitConditional(questions, prior);
    expect(up).toBeGreaterThan(2);
    expect(down).toBeLessThan(1);
    // At the likeliest weights the pull of the prior and of the questions are equal.
    const missing = 20 / (1 + Math.exp(up - down));
    expect(4 * (up - 2)).toBeCloseTo(missing, 3);
    const [, least] = fitConditional(
      Array.from({ length: 2_000 }, () => question([0, 0], [0, 1])),
      prior,
    );
    expect(least).toBe(0);
  });

  it('knows how surely questions hold weights', () => {
    const share = 1 / (1 + Math.exp(-1));
    const [[held = 0] = []] = curvatureOf([question([1, 0], [0, 0]), question([1, 0], [0, 0])], [1, 0]);
    expect(held).toBeCloseTo(share * (1 - share), 12);
  });
});
