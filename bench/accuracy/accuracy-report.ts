/** The figures as Markdown. */
import type { ReliabilityRow } from './figures.ts';
import { METHODS, type SetFigures } from './methods.ts';

export interface AccuracyResult {
  readonly data: string;
  readonly seed: number;
  readonly model: string;
  readonly fingerprint: string;
  readonly fitted: boolean;
  readonly commit: string;
  readonly sets: readonly SetFigures[];
  readonly overall: { readonly calibrationError: number; readonly reliability: readonly ReliabilityRow[] };
}

const TITLES = {
  words: 'BM25',
  similarity: 'cosine',
  sumWithoutGate: 'sum, no gate',
  reciprocalRanks: 'reciprocal ranks',
  ours: 'ours',
} as const;

const percent = (share: number): string => (Number.isNaN(share) ? '-' : (100 * share).toFixed(1));

export function accuracyReport(result: AccuracyResult): string {
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
\`${result.fingerprint.slice(0, 16)}\`; commit ${result.commit}; fitted relevance ${result.fitted ? 'used' : 'NOT used'}.
Reproduce: \`npm run bench:accuracy -- --data FOLDER\`. All figures in percent but times.

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

Calibration error (ten bins), whether the phrase head won its cross-validation, and median time of search and fusion
without the embedding:

${rows([
  ['set', 'language', 'phrases', 'capabilities', 'questions', 'error', 'head', 'ms'],
  ...sets.map((one) => [
    ...label(one),
    String(one.capabilities),
    String(one.questions),
    percent(one.calibrationError),
    one.isHeadUsed ? 'yes' : 'no',
    one.medianRouteMs.toFixed(2),
  ]),
])}

Mean calibration error over the sets: ${percent(overall.calibrationError)}. Reliability over all questions:

${rows([
  ['relevance from', 'questions', 'mean relevance', 'right'],
  ...overall.reliability.map((row) => [
    row.from.toFixed(1),
    String(row.questions),
    percent(row.meanRelevance),
    percent(row.rightShare),
  ]),
])}
`;
}
