import { describe, expect, it } from 'vitest';
import { openOfflineService } from '../../../src/app/index.ts';
import { evaluationReportSchema } from '../../../src/contract/index.ts';
import { HashEmbedder } from '../../../src/embedding/index.ts';
import { languageOf, readEvaluationLines } from '../../../src/routing/evaluation/evaluation-lines.ts';
import { capabilityScores, evaluate } from '../../../src/routing/evaluation/evaluator.ts';
import { type Outcome, scoresOf } from '../../../src/routing/evaluation/outcome.ts';

const outcome = (change: Partial<Outcome>): Outcome => ({
  text: 'x',
  namespace: 'default',
  language: 'en',
  expected: 'a',
  answered: 'a',
  ranked: ['a', 'b', 'c'],
  relevance: 0.9,
  isByMeaning: true,
  ...change,
});

describe('scores of outcomes', () => {
  it('counts ranks, decisions and refusals as written down by hand', () => {
    const outcomes = [
      outcome({}),
      outcome({ expected: 'b', answered: 'a' }),
      outcome({ expected: 'c', answered: null, relevance: 0.25 }),
      outcome({ expected: 'z', answered: 'a' }),
      outcome({ expected: null, answered: null, relevance: 0.1 }),
      outcome({ expected: null, answered: 'b', ranked: ['b'], relevance: 0.6 }),
    ];
    const scores = scoresOf(outcomes);
    expect(scores).toMatchObject({ lines: 6, inScope: 4, outOfScope: 2, hitAt1: 0.25, hitAt5: 0.75 });
    expect(scores.mrr).toBeCloseTo((1 + 1 / 2 + 1 / 3 + 0) / 4, 12);
    expect(scores).toMatchObject({ answeredRight: 0.25, noMatchPrecision: 0.5, noMatchRecall: 0.5 });
    // In scope 0.9, 0.9, 0.25, 0.9 against 0.1, 0.6: seven of eight pairs.
    expect(scores.auroc).toBe(7 / 8);
  });

  it('leaves rules and exact names out of the calibration', () => {
    expect(scoresOf([outcome({ relevance: 1, isByMeaning: false })]).calibrationError).toBeNull();
  });

  it('names the worst capability first, and who takes from others', () => {
    const rows = capabilityScores([outcome({}), outcome({ expected: 'b' }), outcome({ expected: null })]);
    expect(rows.map(({ capability, hitAt1, taken }) => [capability, hitAt1, taken])).toEqual([
      ['b', 0, 0],
      ['a', 1, 2],
    ]);
  });

  it('counts a request that was split neither as right nor as refused', () => {
    const split = outcome({ answered: 'a + b' });
    expect(scoresOf([split])).toMatchObject({ answeredRight: 0, noMatchPrecision: null });
    expect(capabilityScores([split]).map(({ capability, taken }) => [capability, taken])).toEqual([
      ['b', 1],
      ['a', 0],
    ]);
  });
});

describe('a data file', () => {
  it('is read whole, blank lines and further fields passed over', () => {
    const content = '{"text":"rain","capability":"a.b.c","id":7}\r\n\n{"text":"下雨","capability":null,"lang":"zh"}\n';
    expect(readEvaluationLines(content, 'data')).toEqual([
      { text: 'rain', capability: 'a.b.c' },
      { text: '下雨', capability: null, lang: 'zh' },
    ]);
  });

  it.each([
    ['{"text":"rain"}', 'line 2: capability'],
    ['{bad', 'line 2: is not well-formed JSON'],
    ['{"text":"","capability":null}', 'line 2: text'],
    ['{"text":"🙂","capability":null}', 'line 2: text: holds no letter or digit'],
    ['{"text":"\\ud800","capability":null}', 'line 2: text'],
    ['[]', 'line 2: line'],
    ['null', 'line 2: line'],
  ])('is refused with the number of its wrong line: %s', (line, detail) => {
    const read = () => readEvaluationLines(`{"text":"rain","capability":null}\n${line}`, 'data');
    expect(read).toThrow(expect.objectContaining({ code: 'AR_ERR_INVALID_REQUEST' }));
    expect(read).toThrow(detail);
  });

  it('is refused when it holds nothing', () => {
    expect(() => readEvaluationLines('\n\n', 'data')).toThrow('holds no lines');
  });

  it.each([
    ['明天 rain', 'zh'],
    ['will it rain', 'en'],
    ['будет дождь', 'other'],
    ['42', 'other'],
  ])('tells the language of "%s"', (text, language) => {
    expect(languageOf(text)).toBe(language);
  });
});

const AGENT = (agentId: string, capabilities: readonly unknown[]) => ({
  agentId,
  capabilities,
  transport: { type: 'http', endpoint: `http://127.0.0.1:9/${agentId}` },
});

describe('an evaluation of a registry in this process', () => {
  it('reports what the routes answer, what they confuse and what they cannot reach', async () => {
    const source = await openOfflineService(
      {
        registrations: [
          AGENT('weather', [{ name: 'weather.query.city', description: 'weather forecast for a city' }]),
          AGENT('mail', [{ name: 'mail.send.message', description: 'send an email to somebody' }]),
          AGENT('twin', [{ name: 'sky.tell.state', description: 'weather forecast for a city' }]),
        ],
      },
      { embedder: new HashEmbedder() },
    );
    try {
      const report = await evaluate(
        source,
        [
          { text: 'send an email to somebody please', capability: 'mail.send.message' },
          { text: 'mail.send.message', capability: 'mail.send.message' },
          { text: 'forecast of weather for a city', capability: 'sky.query.city' },
          { text: 'zzz qqq', capability: null },
        ],
        { source: { kind: 'registry', place: 'file' }, namespace: 'default', minSimilarity: 0.9 },
      );
      expect(evaluationReportSchema.parse(report)).toEqual(report);
      expect(report.source).toMatchObject({ capabilities: 3, degraded: false, indexVersion: 'v000001' });
      expect(report.scores).toMatchObject({ lines: 4, inScope: 3, hitAt1: 2 / 3, noMatchRecall: 1 });
      expect(report.nearDuplicates).toMatchObject([{ similarity: expect.closeTo(1, 3) }]);
      expect(report.unknownCapabilities).toMatchObject([{ capability: 'sky.query.city', lines: 1 }]);
      expect(report.confusions).toMatchObject([
        { expected: 'sky.query.city', nearestPhrase: 'weather forecast for a city' },
      ]);
    } finally {
      await source.close();
    }
  });

  it('refuses a wrong registration with its place and leaves nothing running', async () => {
    const opened = openOfflineService(
      { registrations: [AGENT('a', ['a.b.c']), AGENT('b', ['a.b'])] },
      { embedder: new HashEmbedder() },
    );
    await expect(opened).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_CAPABILITY',
      message: expect.stringContaining('registration 2'),
    });
  });
});
