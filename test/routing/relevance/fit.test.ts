import { describe, expect, it } from 'vitest';
import { decisionFigures } from '../../../bench/accuracy/decisions.ts';
import type { FieldTrial } from '../../../bench/accuracy/field-trials.ts';
import { reliabilityTable } from '../../../bench/accuracy/fit-report.ts';
import { chooseWay } from '../../../bench/accuracy/left-out.ts';
import { fitPlain } from '../../../bench/accuracy/plain-fit.ts';
import { fitRegime } from '../../../bench/accuracy/regime-fit.ts';
import { seededRandom } from '../../../bench/calibration/rows.ts';
import type { CapabilityEvidence } from '../../../src/routing/relevance/relevance-model.ts';
import { fieldOf, RANKING_FEATURES } from '../../../src/routing/relevance/relevance-model.ts';

interface Shape {
  /** How much nearer, and how much better met by words, the right one is than the others. */
  readonly likeness: number;
  readonly words: number;
  readonly descriptionCount: number;
}

/** Questions of three families to registries of four; the last of every five goes unserved. */
function trialsOf({ likeness, words, descriptionCount }: Shape): FieldTrial[] {
  const random = seededRandom(3);
  return Array.from({ length: 600 }, (_, at) => {
    const isServed = at % 5 !== 4;
    const right = at % 4;
    const evidence = Array.from({ length: 4 }, (_, candidate): CapabilityEvidence => {
      const isRight = isServed && candidate === right;
      const cosine = 0.3 + 0.2 * random() + (isRight ? likeness : 0);
      const met = Math.max(0, 4 * random() + (isRight ? words : 0));
      const kinds = { best: cosine, name: cosine, description: cosine, phrase: cosine, phraseMean: cosine };
      const known = { phraseCount: 0, descriptionCount, headLogit: undefined };
      return { ...kinds, ...known, lexicalScore: met, coverage: Math.min(1, met / 8) };
    });
    return {
      cell: `${['first', 'second', 'third'][Math.floor(at / 3) % 3]} en>en 4`,
      registry: 0,
      capabilityCount: 4,
      isServed,
      field: fieldOf(evidence),
      isRight: evidence.map((_, candidate) => isServed && candidate === right),
    };
  });
}

describe('the way of ranking', () => {
  it('stays the simple one where words say nothing', () => {
    const { by, leftOut } = chooseWay(trialsOf({ likeness: 0.15, words: 0, descriptionCount: 1 }));
    expect(by).toBe('dense');
    expect(leftOut.describedWords.own).toBeLessThanOrEqual((leftOut.dense.own ?? 0) + 0.001);
  });

  it('takes words in where they tell the right one, of families that the fit had not seen', () => {
    const { by, leftOut } = chooseWay(trialsOf({ likeness: 0.1, words: 4, descriptionCount: 1 }));
    expect(by).toBe('describedWords');
    expect(leftOut.describedWords.own).toBeGreaterThan((leftOut.dense.own ?? 1) + 0.05);
    expect(leftOut.dense.among).toBeNull();
  });

  it('takes the words of bare names in only where these tell it', () => {
    expect(chooseWay(trialsOf({ likeness: 0.1, words: 4, descriptionCount: 0 })).by).toBe('allWords');
    expect(chooseWay(trialsOf({ likeness: 0.15, words: 0, descriptionCount: 0 })).by).toBe('dense');
  });

  it('looks at nothing else than it says', () => {
    const trials = trialsOf({ likeness: 0.1, words: 4, descriptionCount: 0 }).slice(0, 200);
    const weightsOf = (by: 'dense' | 'describedWords' | 'allWords') =>
      Object.fromEntries(RANKING_FEATURES.map((name, at) => [name, fitRegime(trials, by).ranking[at] ?? 0]));
    const { best, ...others } = weightsOf('dense');
    expect(best).toBeGreaterThan(1);
    expect(Object.values(others).every((weight) => weight === 0)).toBe(true);
    expect(weightsOf('describedWords')).toMatchObject({ nameLexical: 0, nameCoverage: 0 });
    const all = weightsOf('allWords');
    expect(all.nameLexical).toBeGreaterThan(1);
    expect(all.nameLexical).toBe(all.lexical);
  });
});

describe('the tables and lines of a fit', () => {
  const trials = trialsOf({ likeness: 0.15, words: 3, descriptionCount: 1 });

  it('rise with evidence and fall with competitors that were not there', () => {
    const { lexicalWeight, hybrid, lexical } = fitPlain(trials);
    expect(lexicalWeight).toBeGreaterThan(0);
    expect(hybrid.slope).toBeGreaterThan(1);
    expect(lexical.slope).toBeGreaterThan(1);
  });

  it('show each size of registries in its own row', () => {
    const { answers } = chooseWay(trials);
    const rows = reliabilityTable(answers).split('\n');
    expect(rows).toHaveLength(3);
    expect(rows[2]).toMatch(/^\| 3 to 7 \| 600 \| \d/);
  });
});

describe('figures of decisions', () => {
  it('count what was right, wrong, refused and taken for several', async () => {
    const answers: Record<string, string | null> = { a: 'x', b: 'y', c: null, d: 'x + y', e: null, f: 'x' };
    const served = ['a', 'b', 'c', 'd'].map((text) => ({ text, rightIds: ['x'] }));
    const unserved = ['e', 'f'].map((text) => ({ text, rightIds: [] }));
    const figures = await decisionFigures(async (text) => answers[text] ?? null, [...served, ...unserved]);
    expect(figures).toEqual({ right: 0.25, wrong: 0.25, refused: 0.25, split: 0.25, unservedRefused: 0.5 });
  });
});
