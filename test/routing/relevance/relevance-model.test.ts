import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCalibration, MODELS, parseRelevanceWeights, type RelevanceWeights } from '../../../src/embedding/index.ts';
import {
  type CapabilityEvidence,
  fieldOf,
  RANKING_FEATURES,
  relevancesOf,
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
    for (const { ranking, trust } of Object.values(weights.regimes)) {
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
    expect(fieldOf([one(4, 1), one(0), one(0)]).regime).toBe('texts');
  });

  it('lets a capability that the head did not learn stand level with its favourite', () => {
    const [first, second, third] = fieldOf([one(4, 3), one(4, -2), one(0)]).rows.map((row) => row.at(-1));
    expect(third).toBe(first);
    expect(second).toBeLessThan(first ?? 0);
  });
});

describe('parseRelevanceWeights', () => {
  it('refuses the weights of another model, and files that lack a part', async () => {
    const weights = await fittedOf('zh-en-small');
    expect(() => parseRelevanceWeights(weights, 'another')).toThrow(/fitted for other weights/);
    expect(() => parseRelevanceWeights(null, 'another')).toThrow(/fitted for other weights/);
    const lacking = { ...weights, regimes: { ...weights.regimes, head: { ranking: { best: Number.NaN }, trust: {} } } };
    expect(() => parseRelevanceWeights(lacking, weights.fingerprint)).toThrow(/lacks head.ranking/);
    const { origin: _, ...unsigned } = weights;
    expect(() => parseRelevanceWeights(unsigned, weights.fingerprint)).toThrow(/does not say what it was fitted on/);
  });

  it('falls back to the plain calibration and says so', async () => {
    const [row] = MODELS;
    if (row === undefined) throw new Error('no model');
    const { calibration, problem } = await loadCalibration({ ...row, fingerprint: 'another' });
    expect(calibration.fitted).toBeUndefined();
    expect(problem).toMatch(/run the fit again/);
  });
});
