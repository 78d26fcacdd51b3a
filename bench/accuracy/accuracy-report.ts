/** The figures as Markdown. */
import { DEFAULT_ROUTING } from '../../src/routing/routing-options.ts';
import type { ReliabilityRow } from './figures.ts';
import { METHODS, type SetFigures } from './methods.ts';
import type { RouteCost } from './route-cost.ts';

export interface AccuracyResult {
  readonly data: string;
  readonly seed: number;
  readonly model: string;
  readonly fingerprint: string;
  /** Digest of the data that the weights were fitted on; null when they are not used. */
  readonly fittedOn: string | null;
  readonly commit: string;
  readonly sets: readonly SetFigures[];
  readonly overall: {
    readonly calibrationError: number;
    readonly meanSetError: number;
    readonly reliability: readonly ReliabilityRow[];
  };
  /** Null without fitted weights. */
  readonly cost: RouteCost | null;
}

const TITLES = {
  words: 'BM25',
  similarity: 'cosine',
  sumWithoutGate: 'sum, no gate',
  reciprocalRanks: 'reciprocal ranks',
  ours: 'ours',
} as const;

const percent = (share: number): string => (Number.isNaN(share) ? '-' : (100 * share).toFixed(1));

/** What is wanted of the measuring sets, and what is reached. */
function aims({ sets, overall, cost }: AccuracyResult): string[][] {
  const ours = (set: string, language = 'en') => {
    const figures = sets.find((one) => one.set === set && one.language === language);
    return figures?.methods.ours;
  };
  const row = (aim: string, wanted: string, value: number, isReached: boolean): string[] => [
    aim,
    wanted,
    percent(value),
    isReached ? 'yes' : 'no',
  ];
  const least = (aim: string, value: number | undefined, wanted: number): string[] =>
    row(aim, `>= ${wanted}`, value ?? Number.NaN, 100 * (value ?? 0) >= wanted);
  const gap = (set: string): number => (ours(set)?.hitAt1 ?? Number.NaN) - (ours(set, 'zh')?.hitAt1 ?? Number.NaN);
  const leads = (method: 'similarity' | 'reciprocalRanks'): number =>
    Math.min(...sets.map(({ methods }) => methods.ours.hitAt1 - methods[method].hitAt1));
  return [
    ['aim', 'wanted', 'measured', 'reached'],
    least('CLINC150, 8 phrases, in scope hit@1', ours('clinc150/8')?.hitAt1, 92),
    least('CLINC150, 8 phrases, out of scope refused at 90 % let through', ours('clinc150/8')?.refusedAt90, 70),
    least('Banking77, 8 phrases, hit@1', ours('banking77/8')?.hitAt1, 80),
    least('MetaTool hit@1', ours('metatool')?.hitAt1, 75),
    least('MetaTool hit@5', ours('metatool')?.hitAt5, 93),
    row('xSID, 8 phrases, English before Chinese', '<= 5', gap('xsid/8'), gap('xsid/8') <= 0.05),
    row('xSID, English names alone, English before Chinese', '-', gap('xsid/0'), gap('xsid/0') <= 0.05),
    row('calibration error, all questions', '<= 5', overall.calibrationError, overall.calibrationError <= 0.05),
    [
      'ms of relevance and head in a route, 1,000 capabilities',
      '<= 0.3',
      cost === null ? '-' : cost.meanMs.toFixed(2),
      cost !== null && cost.meanMs <= 0.3 ? 'yes' : 'no',
    ],
    row('least lead over cosine, any set', '>= 0', leads('similarity'), leads('similarity') >= 0),
    row('least lead over reciprocal ranks, any set', '>= 0', leads('reciprocalRanks'), leads('reciprocalRanks') >= 0),
  ];
}

/** `tried`: what was tried where an aim is missed, as Markdown. */
export function accuracyReport(result: AccuracyResult, tried: string): string {
  const { sets, overall } = result;
  const rows = (cells: readonly (readonly string[])[]): string =>
    cells.map((line, at) => `| ${line.join(' | ')} |${at === 0 ? `\n|${'---|'.repeat(line.length)}` : ''}`).join('\n');
  const label = ({ set, language }: SetFigures): string[] => {
    const [name = '', phrases = '0'] = set.split('/');
    return [name, language, phrases];
  };
  const hits = (key: 'hitAt1' | 'hitAt5'): string =>
    rows([
      ['set', 'language', 'phrases', ...METHODS.map((method) => TITLES[method])],
      ...sets.map((one) => [...label(one), ...METHODS.map((method) => percent(one.methods[method][key]))]),
    ]);
  const scoped = sets.filter(({ outOfScope }) => outOfScope > 0);
  return `# Accuracy

${result.data}; every text of each set, those aside that serve as phrases (seed ${result.seed}). Model ${result.model},
\`${result.fingerprint.slice(0, 16)}\`; commit ${result.commit}; relevance ${result.fittedOn === null ? 'NOT fitted' : `fitted on train/ alone, digest \`${result.fittedOn.slice(0, 16)}\``}.
Reproduce: \`npm run bench:accuracy -- --data FOLDER\`. All figures in percent but times.

${rows(aims(result))}

Right first (hit@1). "sum, no gate" = 0.5 cosine + 0.3 (1 - load) + 0.2 (1 - latency) over agents with random load:

${hits('hitAt1')}

Right among five (hit@5):

${hits('hitAt5')}

Out of scope, where 90 % of what is in scope is let through:

${rows([
  ['set', 'language', 'phrases', 'refused: cosine', 'refused: ours', 'AUROC: cosine', 'AUROC: ours'],
  ...scoped.map((one) => [
    ...label(one),
    ...[one.methods.similarity.refusedAt90, one.methods.ours.refusedAt90].map(percent),
    ...[one.methods.similarity.auroc, one.methods.ours.auroc].map(percent),
  ]),
])}

What the service decides of each question by its own functions, with the minimum relevance of ${DEFAULT_ROUTING.minRelevance}, the
thresholds learnt from phrases, splits and negation; of the questions in scope, and of those out of it:

${rows([
  ['set', 'language', 'phrases', 'right', 'wrong', 'refused', 'taken for several', 'out of scope: refused'],
  ...sets.map((one) => [
    ...label(one),
    ...[one.decisions.right, one.decisions.wrong, one.decisions.refused, one.decisions.split].map(percent),
    percent(one.decisions.unservedRefused),
  ]),
])}

Calibration error (ten bins), whether the phrase head won its cross-validation, and processor time of one search and
fusion without the embedding, on whatever machine this ran:

${rows([
  ['set', 'language', 'phrases', 'capabilities', 'questions', 'error', 'head', 'ms of processor'],
  ...sets.map((one) => [
    ...label(one),
    String(one.capabilities),
    String(one.questions),
    percent(one.calibrationError),
    one.isHeadUsed ? 'yes' : 'no',
    one.routeCpuMs.toFixed(2),
  ]),
])}

Calibration error over all questions: ${percent(overall.calibrationError)}; mean over the sets, where each weighs the same:
${percent(overall.meanSetError)}. Reliability over all questions:

${rows([
  ['relevance from', 'questions', 'mean relevance', 'right'],
  ...overall.reliability.map((row) => [
    row.from.toFixed(1),
    String(row.questions),
    percent(row.meanRelevance),
    percent(row.rightShare),
  ]),
])}

${tried}`;
}
