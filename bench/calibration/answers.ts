/** What a way of scoring answers to trials, and how good that is. */
import type { Trial, TrialCandidate } from './trials.ts';

export interface Answer {
  readonly trial: Trial;
  /** Evidence of the winner. */
  readonly evidence: number;
  /** All candidates, best first. */
  readonly ranked: readonly { readonly evidence: number; readonly isRight: boolean }[];
  readonly isRight: boolean;
  readonly weight: number;
}

/** A query that nothing serves is taken to be this common; public sets say nothing of it, so it is a choice. */
const UNSERVED_SHARE = 0.1;

export function answerAll(trials: readonly Trial[], evidenceOf: (one: TrialCandidate) => number): Answer[] {
  const weights = trialWeights(trials);
  return trials.map((trial, at) => {
    const ranked = trial.candidates
      .map((one) => ({ evidence: evidenceOf(one), isRight: one.isRight }))
      .sort((left, right) => right.evidence - left.evidence);
    const [best] = ranked;
    return {
      trial,
      ranked,
      evidence: best?.evidence ?? 0,
      isRight: best?.isRight ?? false,
      weight: weights[at] ?? 0,
    };
  });
}

/** Every family of sets weighs the same, in it every (set, languages, size), in that served to unserved as above. */
function trialWeights(trials: readonly Trial[]): number[] {
  const countOf = new Map<string, number>();
  const cellsOf = new Map<string, Set<string>>();
  for (const trial of trials) {
    const cell = cellOf(trial);
    countOf.set(`${cell} ${trial.isServed}`, (countOf.get(`${cell} ${trial.isServed}`) ?? 0) + 1);
    const cells = cellsOf.get(familyOf(trial)) ?? new Set<string>();
    cellsOf.set(familyOf(trial), cells.add(cell));
  }
  return trials.map((trial) => {
    const cell = cellOf(trial);
    const share = trial.isServed ? 1 - UNSERVED_SHARE : UNSERVED_SHARE;
    const count = countOf.get(`${cell} ${trial.isServed}`) ?? 1;
    return share / count / (cellsOf.get(familyOf(trial))?.size ?? 1) / cellsOf.size;
  });
}

function familyOf(trial: Trial): string {
  return trial.set.split('/')[0] ?? trial.set;
}

function cellOf(trial: Trial): string {
  return `${trial.set} ${trial.languages} ${trial.registrySize}`;
}

/** Share of the served queries whose winner is right. */
export function hitAt1(answers: readonly Answer[]): number {
  const served = answers.filter(({ trial }) => trial.isServed);
  return weightedShare(served, ({ isRight }) => isRight);
}

export function weightedShare(answers: readonly Answer[], holds: (answer: Answer) => boolean): number {
  let held = 0;
  let total = 0;
  for (const answer of answers) {
    total += answer.weight;
    if (holds(answer)) held += answer.weight;
  }
  return total === 0 ? Number.NaN : held / total;
}
