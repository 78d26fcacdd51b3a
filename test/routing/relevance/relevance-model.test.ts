import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  loadCalibration,
  MODELS,
  parseRelevanceWeights,
  RANKED_BY,
  type RelevanceWeights,
  UNFITTED,
} from '../../../src/embedding/index.ts';
import {
  type CapabilityEvidence,
  fieldOf,
  RANKING_FEATURES,
  relevancesOf,
  scoresOf,
  TRUST_FEATURES,
} from '../../../src/routing/relevance/relevance-model.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const evidence: fc.Arbitrary<CapabilityEvidence> = fc.record({
  best: share,
  name: share,
  description: share,
  phrase: share,
  phraseMean: share,
  phraseCount: fc.integer({ min: 0, max: 32 }),
  descriptionCount: fc.integer({ min: 0, max: 3 }),
  lexicalScore: fc.double({ min: 0, max: 100, noNaN: true }),
  coverage: share,
  headLogit: fc.option(fc.double({ min: -20, max: 20, noNaN: true }), { nil: undefined }),
});

async function fittedOf(id: string): Promise<RelevanceWeights> {
  const row = MODELS.find((model) => model.id === id);
  if (row === undefined) throw new Error('no row');
  const { calibration, problem } = await loadCalibration(row);
  if (calibration.fitted === undefined) throw new Error(problem ?? 'not fitted');
  return calibration.fitted;
}

describe.each(MODELS.map(({ id }) => id))('relevance as fitted for %s', (id) => {
  it('stays within 0 and 1', async () => {
    const weights = await fittedOf(id);
    fc.assert(
      fc.property(
        fc.array(evidence, { minLength: 1, maxLength: 16 }),
        fc.integer({ min: 1, max: 1e6 }),
        (all, count) => {
          for (const relevance of relevancesOf(weights, all, count)) {
            expect(relevance).toBeGreaterThanOrEqual(0);
            expect(relevance).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
  });

  it('gives the leader no less when its own evidence rises', async () => {
    const weights = await fittedOf(id);
    fc.assert(
      fc.property(fc.array(evidence, { minLength: 1, maxLength: 8 }), share, (all, more) => {
        const before = relevancesOf(weights, all, 50);
        const leader = before.indexOf(Math.max(...before));
        const raised = all.map((one, at) =>
          at === leader ? { ...one, coverage: Math.min(1, one.coverage + more) } : one,
        );
        const after = relevancesOf(weights, raised, 50);
        expect(after[leader] ?? 0).toBeGreaterThanOrEqual((before[leader] ?? 0) - 1e-12);
      }),
    );
  });

  it('asks for more evidence among more competitors', async () => {
    const weights = await fittedOf(id);
    const one = {
      best: 0.5,
      name: 0.5,
      description: 0.5,
      phrase: 0.5,
      phraseMean: 0.5,
      phraseCount: 0,
      descriptionCount: 1,
    };
    const all = [{ ...one, lexicalScore: 2, coverage: 0.5, headLogit: undefined }];
    expect(relevancesOf(weights, all, 3_000)[0]).toBeLessThan(relevancesOf(weights, all, 30)[0] ?? 0);
  });

  it('trusts a leader less that another one follows closely', async () => {
    const weights = await fittedOf(id);
    const one = { phrase: 0, phraseMean: 0, phraseCount: 0, descriptionCount: 1, lexicalScore: 2, coverage: 0.5 };
    const near = (cosine: number): CapabilityEvidence => ({
      ...one,
      best: cosine,
      name: cosine,
      description: cosine,
      headLogit: undefined,
    });
    const leads = [0.1, 0.3, 0.45, 0.5].map((second) => relevancesOf(weights, [near(0.5), near(second)], 50)[0] ?? 0);
    expect(leads).toEqual(leads.toSorted((a, b) => b - a));
    expect(leads[0]).toBeGreaterThan(leads[3] ?? 1);
  });

  it('says what it was fitted on', async () => {
    const weights = await fittedOf(id);
    expect(weights.fingerprint).toBe(MODELS.find((model) => model.id === id)?.fingerprint);
    expect(weights.origin?.dataDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(weights.origin?.seed).toBeTypeOf('number');
    for (const { by, leftOut, ranking, trust } of Object.values(weights.regimes)) {
      expect(RANKED_BY).toContain(by);
      expect(Object.keys(leftOut ?? {})).toEqual([...RANKED_BY]);
      expect(Object.keys(ranking)).toEqual([...RANKING_FEATURES]);
      expect(Object.keys(trust)).toEqual([...TRUST_FEATURES]);
    }
  });

  it('answers nothing for nothing', async () => {
    expect(relevancesOf(await fittedOf(id), [], 5)).toEqual([]);
  });
});

describe('fieldOf', () => {
  const plain = {
    best: 0,
    name: 0,
    description: 0,
    phrase: 0,
    phraseMean: 0,
    lexicalScore: 0,
    coverage: 0,
    descriptionCount: 1,
  };
  const one = (phraseCount: number, headLogit?: number): CapabilityEvidence => ({ ...plain, phraseCount, headLogit });

  it('tells what is known of the capabilities', () => {
    expect(fieldOf([one(0), one(0)]).regime).toBe('texts');
    expect(fieldOf([one(0), one(0)].map((known) => ({ ...known, descriptionCount: 0 }))).regime).toBe('names');
    expect(fieldOf([one(4), one(0)]).regime).toBe('phrases');
    expect(fieldOf([one(4, 1), one(4, 0), one(0)]).regime).toBe('head');
    expect(fieldOf([one(4, 1), one(4, 0)]).regime).toBe('learnt');
    expect(fieldOf([]).regime).toBe('names');
    expect(fieldOf([one(4, 1), one(0), one(0)]).regime).toBe('texts');
  });

  it('counts the words of a capability by what they are of: a name alone, or texts', () => {
    const worded = { ...plain, phraseCount: 0, headLogit: undefined, lexicalScore: 5, coverage: 0.5 };
    const field = fieldOf([
      { ...worded, descriptionCount: 0 },
      { ...worded, descriptionCount: 1 },
      { ...worded, descriptionCount: 0, phraseCount: 1 },
    ]);
    const columns = ['lexical', 'coverage', 'nameLexical', 'nameCoverage'] as const;
    const shown = field.rows.map((row) => columns.map((name) => row[RANKING_FEATURES.indexOf(name)]));
    expect(shown).toEqual([
      [0, 0, 0.25, 0.5],
      [0.25, 0.5, 0, 0],
      [0.25, 0.5, 0, 0],
    ]);
  });

  it('lets a capability that the head did not learn stand level with its favourite', () => {
    const [first, second, third] = fieldOf([one(4, 3), one(4, -2), one(0)]).rows.map((row) => row.at(-1));
    expect(third).toBe(first);
    expect(second).toBeLessThan(first ?? 0);
  });
});

describe('ranking weights of a registry', () => {
  const known = { name: 0.3, description: 0.3, phrase: 0.3, phraseMean: 0.3, lexicalScore: 0, coverage: 0 };
  const near: CapabilityEvidence = { ...known, best: 0.6, phraseCount: 4, descriptionCount: 1, headLogit: -1 };
  const liked: CapabilityEvidence = { ...near, best: 0.4, headLogit: 1 };
  const [byLikeness, byHead] = [{ best: 20 }, { head: 5 }];
  const weights = async (): Promise<RelevanceWeights> => {
    const { regimes, ...file } = await fittedOf('zh-en-small');
    const trust = { score: 0.5, best: 1 };
    const plain = { ranking: byLikeness, trust };
    return { ...file, regimes: { ...regimes, head: plain, learnt: plain } };
  };

  it('order a field that the head has learnt, which is trusted as the fitted ones see its leader', async () => {
    const fitted = await weights();
    const [first = 0, second = 1] = relevancesOf(fitted, [near, liked], 5);
    expect(first).toBeGreaterThan(second);
    const [other = 1, leader = 0] = relevancesOf(fitted, [near, liked], 5, byHead);
    expect(leader).toBeGreaterThan(other);
    const odds = (relevance: number): number => Math.log(relevance / (1 - relevance));
    expect(odds(leader)).toBeCloseTo(0.5 * 20 * 0.4 + 0.4, 9);
    expect(odds(leader) - odds(other)).toBeCloseTo(5 * 2, 9);
  });

  it('say nothing of a field with a capability that the head has not learnt', async () => {
    const fitted = await weights();
    const field = [near, liked, { ...liked, best: 0.1, headLogit: undefined }];
    expect(relevancesOf(fitted, field, 5, byHead)).toEqual(relevancesOf(fitted, field, 5));
  });
});

describe('the ranking of capabilities of which only names are known', () => {
  const bare = { descriptionCount: 0, phraseCount: 0, headLogit: undefined };
  const near = (cosine: number, lexicalScore: number, isNamed = false): CapabilityEvidence => ({
    ...bare,
    best: cosine,
    name: cosine,
    description: cosine,
    phrase: cosine,
    phraseMean: cosine,
    lexicalScore,
    coverage: lexicalScore > 0 ? 1 : 0,
    isNamed,
  });

  it('goes by their likeness alone, whatever words meet, where the fit found no use in words', async () => {
    const weights = await fittedOf('zh-en-small');
    expect(weights.regimes.names.by).not.toBe('allWords');
    const [likely, wordy] = relevancesOf(weights, [near(0.6, 0), near(0.55, 20)], 20);
    expect(likely).toBeGreaterThan(wordy ?? 1);
  });

  it('puts the one whose identifier was typed before all others', async () => {
    const weights = await fittedOf('zh-en-small');
    const [likely, typed] = relevancesOf(weights, [near(0.7, 0), near(0.3, 3, true)], 20);
    expect(typed).toBeGreaterThan(0.8);
    expect(likely).toBeLessThan(0.1);
    const scores = scoresOf(fieldOf([near(0.3, 3), near(0.3, 3, true)]), weights.regimes.names.ranking);
    expect((scores[1] ?? 0) - (scores[0] ?? 0)).toBeCloseTo(20, 9);
  });
});

describe('parseRelevanceWeights', () => {
  it('refuses the weights of another model, and files that lack a part', async () => {
    const weights = await fittedOf('zh-en-small');
    expect(() => parseRelevanceWeights(weights, 'another')).toThrow(/fitted for other weights/);
    expect(() => parseRelevanceWeights(null, 'another')).toThrow(/fitted for other weights/);
    const lacking = { ...weights, regimes: { ...weights.regimes, head: { ranking: { best: Number.NaN }, trust: {} } } };
    expect(() => parseRelevanceWeights(lacking, weights.fingerprint)).toThrow(/lacks head.ranking/);
    const { learnt } = weights.regimes;
    const short = { ...learnt, curvature: learnt.curvature?.map((line) => line.slice(1)) };
    const bent = { ...weights, regimes: { ...weights.regimes, learnt: short } };
    expect(() => parseRelevanceWeights(bent, weights.fingerprint)).toThrow(/lacks a number of learnt.curvature/);
    const { plain: _plain, ...without } = weights;
    expect(() => parseRelevanceWeights(without, weights.fingerprint)).toThrow(/lacks a number of its plain part/);
    const { origin: _, ...unsigned } = weights;
    expect(() => parseRelevanceWeights(unsigned, weights.fingerprint)).toThrow(/does not say what it was fitted on/);
  });

  it('falls back to the plain calibration and says so', async () => {
    const [row] = MODELS;
    if (row === undefined) throw new Error('no model');
    const { calibration, problem } = await loadCalibration({ ...row, fingerprint: 'another' });
    expect(calibration).toEqual(UNFITTED);
    expect(problem).toMatch(/run the fit again/);
  });
});
