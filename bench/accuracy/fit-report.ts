/** What a fit says of families of sets that it has not seen, as tables. */
import { calibrationErrorOf } from './figures.ts';
import { type HeldOutAnswer, servedRight } from './left-out.ts';

const SIZES = [2, 7, 20, 50, 150, 500, 1_500, 5_000];
/** Relevances from each of these up to the next. */
const FROM = [0, 0.2, 0.4, 0.6, 0.8];

const percent = (share: number): string => (Number.isNaN(share) ? '-' : (100 * share).toFixed(1));

/** By the size of the registry: in each cell how often it was right, after what it said; in percent. */
export function reliabilityTable(answers: readonly HeldOutAnswer[]): string {
  const rows = SIZES.flatMap((most, at) => {
    const least = (SIZES[at - 1] ?? 0) + 1;
    const own = answers.filter(({ trial: { capabilityCount } }) => capabilityCount >= least && capabilityCount <= most);
    if (own.length === 0) return [];
    const cells = FROM.map((from, bin) => said(own.filter(({ relevance }) => inBin(relevance, from, FROM[bin + 1]))));
    const figures = [servedRight(own, ({ isRight }) => isRight), calibrationErrorOf(own)].map(percent);
    return [[`${least} to ${most}`, String(own.length), ...figures, ...cells]];
  });
  const head = ['capabilities', 'questions', 'hit@1', 'error', ...FROM.map((from) => `relevance from ${from}`)];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const inBin = (relevance: number, from: number, to = Number.POSITIVE_INFINITY): boolean =>
  relevance >= from && relevance < to;

function said(answers: readonly HeldOutAnswer[]): string {
  const total = answers.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (of: (answer: HeldOutAnswer) => number): number =>
    answers.reduce((sum, answer) => sum + answer.weight * of(answer), 0) / total;
  return `${percent(mean(({ relevance }) => relevance))}: ${percent(mean(({ isRight }) => Number(isRight)))}`;
}

/** Where errors of opposite sign do not cancel: each set by itself, in each regime. */
export function setErrors(answers: readonly HeldOutAnswer[]): string {
  const bySet = new Map<string, HeldOutAnswer[]>();
  for (const answer of answers) {
    const { cell, field } = answer.trial;
    const set = `${cell.replace(/ \d+$/, '')}, ${field.regime}`;
    bySet.set(set, [...(bySet.get(set) ?? []), answer]);
  }
  const errors = [...bySet.values()].map(calibrationErrorOf);
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  return `calibration error as a mean over ${errors.length} sets and regimes: ${percent(mean)} %`;
}
