/**
 * Fits what turns evidence into relevance where there are no finer weights, or no model (src/embedding/calibration.ts), on
 * train/ alone:
 *
 *   npx tsx bench/fit-calibration.ts --data FOLDER [--model ID] [--queries N] [--cache FOLDER]
 *
 * FOLDER holds train/ and dev/ as gzip JSON lines. Takes minutes of one core with 500 queries a set, and
 * the embedding before. The one file of dev/ that it reads is the list of MetaTool's tools, which has no queries. Put the printed row into the model
 * catalogue.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fusedEvidence, lexicalStrength, logCrowd } from '../src/embedding/calibration.ts';
import { type CalibrationLine, DEFAULT_MODEL_ID, modelById } from '../src/embedding/index.ts';
import { embedAll } from './accuracy/vector-cache.ts';
import { type Answer, answerAll, hitAt1, weightedShare } from './calibration/answers.ts';
import { fitLogistic } from './calibration/logistic-fit.ts';
import { type RoutingSet, seededRandom, trainingSets } from './calibration/routing-sets.ts';
import { runTrials, type Trial, textsOf } from './calibration/trials.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    model: { type: 'string', default: DEFAULT_MODEL_ID },
    queries: { type: 'string', default: '500' },
    cache: { type: 'string' },
  },
});
if (values.data === undefined) throw new Error('--data FOLDER is missing');
const data = values.data;
const perSet = Number(values.queries);

const WEIGHTS = [0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6];
/** The service's `minRelevance`: gate and margin matter only for what is answered. */
const LEAST_RELEVANCE = 0.45;
const LOSS_TOLERANCE = 1.01;

interface FittedLine extends CalibrationLine {
  readonly logLoss: number;
}

async function trialsOf(sets: readonly RoutingSet[]): Promise<Trial[]> {
  const vectorOf = await embedAll(sets.flatMap(textsOf), modelById(values.model), values.cache);
  return sets.flatMap((set) => runTrials(set, vectorOf));
}

const densely = (trials: readonly Trial[]): Answer[] => answerAll(trials, (one) => one.similarity);
const lexically = (trials: readonly Trial[]): Answer[] => answerAll(trials, (one) => lexicalStrength(one.score));
const fused = (trials: readonly Trial[], weight: number): Answer[] =>
  answerAll(trials, (one) => fusedEvidence(weight, one.similarity, lexicalStrength(one.score)));

function fitLine(answers: readonly Answer[]): FittedLine {
  const rows = answers.map(({ evidence, trial, isRight, weight }) => ({
    features: [evidence, logCrowd(trial.registrySize)],
    isTrue: isRight,
    weight,
  }));
  const { coefficients, logLoss } = fitLogistic(rows);
  const [slope = 0, crowdSlope = 0, intercept = 0] = coefficients;
  return { slope, crowdSlope, intercept, logLoss };
}

function relevanceOn(line: CalibrationLine, evidence: number, registrySize: number): number {
  return 1 / (1 + Math.exp(-(line.slope * evidence + line.crowdSlope * logCrowd(registrySize) + line.intercept)));
}

const percent = (share: number): string => (Number.isNaN(share) ? '-' : (share * 100).toFixed(1)).padStart(6);
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const printLine = (name: string, { slope, crowdSlope, intercept }: CalibrationLine): void => {
  print(
    `${name}: { slope: ${slope.toFixed(2)}, crowdSlope: ${crowdSlope.toFixed(2)}, intercept: ${intercept.toFixed(2)} },`,
  );
};

/** What each value of `minRelevance` refuses. */
function printRefusals(answers: readonly Answer[], line: CalibrationLine): void {
  print('\nminRelevance | served: right, wrong, refused | unserved: refused   (train, % of the kind)');
  for (const least of [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6]) {
    const isRefused = ({ evidence, trial }: Answer): boolean => relevanceOn(line, evidence, trial.registrySize) < least;
    const served = answers.filter(({ trial }) => trial.isServed);
    const unserved = answers.filter(({ trial }) => !trial.isServed);
    const right = weightedShare(served, (one) => one.isRight && !isRefused(one));
    const refused = weightedShare(served, isRefused);
    const others = [right, 1 - right - refused, refused, weightedShare(unserved, isRefused)];
    print(`${least.toFixed(2).padStart(12)} | ${others.map(percent).join(' ')}`);
  }
}

/** What a gate costs when loads differ: every capability has one agent with random load and latency. */
function printGates(answers: readonly Answer[], line: CalibrationLine): void {
  print('\ngate | right after the weighted sum, random loads | same, right agent at load 0.8, others idle | passing');
  const served = answers.filter(({ trial, evidence }) => {
    return trial.isServed && relevanceOn(line, evidence, trial.registrySize) >= LEAST_RELEVANCE;
  });
  for (const gate of [0, 0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 1]) {
    const random = seededRandom(5);
    const outcomes = served.map((answer) => {
      const all = answer.ranked.map(({ evidence, isRight }) => ({
        relevance: relevanceOn(line, evidence, answer.trial.registrySize),
        isRight,
        ease: 0.3 * random() + 0.2 * random(),
      }));
      const passing = all.filter(({ relevance }) => (all[0]?.relevance ?? 0) - relevance <= gate);
      const wins = (scoreOf: (one: (typeof all)[number]) => number): boolean =>
        passing.reduce((best, one) => (scoreOf(one) > scoreOf(best) ? one : best)).isRight;
      return {
        answer,
        byChance: wins((one) => 0.5 * one.relevance + one.ease),
        hostile: wins((one) => 0.5 * one.relevance + (one.isRight ? 0.06 : 0.3)),
        passing: passing.length,
      };
    });
    const total = outcomes.reduce((sum, { answer }) => sum + answer.weight, 0);
    const mean = (of: (one: (typeof outcomes)[number]) => number): number =>
      outcomes.reduce((sum, one) => sum + one.answer.weight * of(one), 0) / total;
    const shares = [mean((one) => Number(one.byChance)), mean((one) => Number(one.hostile))];
    print(`${gate.toFixed(2)} | ${shares.map(percent).join(' ')} | ${mean((one) => one.passing).toFixed(2)}`);
  }
}

function printMargins(answers: readonly Answer[], line: CalibrationLine): void {
  print(
    '\nmargin to the second | queries with less | first right | one of the two right   (train, served and answered)',
  );
  const served = answers.filter(({ trial, evidence }) => {
    return trial.isServed && relevanceOn(line, evidence, trial.registrySize) >= LEAST_RELEVANCE;
  });
  for (const margin of [0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15]) {
    const close = served.filter(({ ranked, trial }) => {
      const [first, second] = ranked.map(({ evidence }) => relevanceOn(line, evidence, trial.registrySize));
      return (first ?? 0) - (second ?? 0) <= margin;
    });
    const closeWeight = weightedShare(served, (one) => close.includes(one));
    const either = weightedShare(close, ({ ranked }) => ranked.slice(0, 2).some(({ isRight }) => isRight));
    print(`${margin.toFixed(2)} | ${[closeWeight, hitAt1(close), either].map(percent).join(' ')}`);
  }
}

const train = await trialsOf(trainingSets(join(data, 'train'), join(data, 'dev', 'metatool_tools.jsonl.gz'), perSet));
print(`train: ${train.length} trials\nlexicalWeight | log loss | hit@1`);
const grid = WEIGHTS.map((weight) => {
  const answers = fused(train, weight);
  const line = fitLine(answers);
  print(`${weight.toFixed(2).padStart(13)} | ${line.logLoss.toFixed(4)}   | ${percent(hitAt1(answers))}`);
  return { weight, answers, line };
});
// The loss is flat near its least; there the smallest weight, since words say nothing across languages.
const leastLoss = Math.min(...grid.map(({ line }) => line.logLoss));
const best = grid.find(({ line }) => line.logLoss <= leastLoss * LOSS_TOLERANCE);
if (best === undefined) throw new Error('no weight was tried');
const denseLine = fitLine(densely(train));
// A query without a single known word has no lexical candidate, and needs no relevance.
const lexicalLine = fitLine(lexically(train).filter(({ evidence }) => evidence > 0));

print(`\nlexicalWeight: ${best.weight},`);
printLine('hybrid', best.line);
printLine('lexical', lexicalLine);
printLine('similarity alone (for comparison)', denseLine);
printRefusals(best.answers, best.line);
printGates(best.answers, best.line);
printMargins(best.answers, best.line);
