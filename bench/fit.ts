/**
 * Fits everything that turns evidence into relevance on train/ alone and writes it beside the model, with the model's
 * fingerprint, the seed and a digest of the data: the same data give the same file.
 *
 *   npm run fit -- --data FOLDER [--model ID] [--queries N] [--cache FOLDER]
 *
 * FOLDER holds train/ and dev/ as gzip JSON lines. The one file of dev/ that is read is the list of MetaTool's tools,
 * which has no queries. Each set is cut into registries of 2 to 500 capabilities, a quarter of its own left out, so that
 * some questions go unserved; others stand in registries of 50 to 5,000 among capabilities of other catalogues. Printed
 * of families of sets that a fit had not seen: each way of ranking that was tried, and reliability by the size of the
 * registry. Takes ten minutes of one core without the embedding.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  DEFAULT_MODEL_ID,
  type EvidenceRegime,
  modelById,
  RELEVANCE_FILE,
  type RegimeWeights,
  type RelevanceWeights,
  resolveModelsPath,
} from '../src/embedding/index.ts';
import { RANKING_FEATURES, TRUST_FEATURES } from '../src/routing/relevance/relevance-model.ts';
import { collect, textsOfSets } from './accuracy/field-trials.ts';
import { reliabilityTable, setErrors } from './accuracy/fit-report.ts';
import { chooseWay, type HeldOutAnswer, told } from './accuracy/left-out.ts';
import { fitPlain } from './accuracy/plain-fit.ts';
import { curvatureOfRegime, fitRegime } from './accuracy/regime-fit.ts';
import { embedAll } from './accuracy/vector-cache.ts';
import { trainingSets } from './calibration/routing-sets.ts';
import { SEED } from './calibration/rows.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    model: { type: 'string', default: DEFAULT_MODEL_ID },
    queries: { type: 'string', default: '300' },
    cache: { type: 'string' },
  },
});
if (values.data === undefined) throw new Error('--data FOLDER is missing');
const model = modelById(values.model);
const metatoolTools = join(values.data, 'dev', 'metatool_tools.jsonl.gz');
const questionsPerSet = Number(values.queries);
const sets = trainingSets(join(values.data, 'train'), metatoolTools, questionsPerSet);
const digest = createHash('sha256');
for (const set of sets) digest.update(JSON.stringify(set));
const vectorOf = await embedAll(textsOfSets(sets), model, values.cache);
const trials = sets.flatMap((set) => collect(set, vectorOf, model.dimensions));
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const rounded = (names: readonly string[], weights: readonly number[]): Record<string, number> =>
  Object.fromEntries(names.map((name, at) => [name, Math.round((weights[at] ?? 0) * 1000) / 1000]));

/** Four figures each: the smallest matter as much as the largest. */
const significant = (lines: readonly (readonly number[])[]): number[][] =>
  lines.map((line) => line.map((value) => Number(value.toPrecision(4))));

const heldOut: HeldOutAnswer[] = [];

/** Fields that a head has learnt in part are too few for weights of their own: those learnt in full count with them. */
const isOf = (of: EvidenceRegime, regime: EvidenceRegime): boolean =>
  of === regime || (regime === 'head' && of === 'learnt');

function fitAndTell(regime: EvidenceRegime): RegimeWeights {
  const own = trials.filter((trial) => isOf(trial.field.regime, regime));
  const { by, leftOut, answers } = chooseWay(own);
  heldOut.push(...answers.filter(({ trial }) => trial.field.regime === regime));
  const { ranking, trust } = fitRegime(own, by);
  print(`${regime}: of ${own.length} questions, families left out: ${JSON.stringify(leftOut)}, so by ${by}`);
  print(`  ${told(answers)}`);
  return {
    by,
    leftOut,
    ranking: rounded(RANKING_FEATURES, ranking),
    trust: rounded(TRUST_FEATURES, trust),
    ...(regime === 'learnt' ? { curvature: significant(curvatureOfRegime(own, ranking)) } : {}),
  };
}

const weights: RelevanceWeights = {
  fingerprint: model.fingerprint,
  origin: { dataDigest: digest.digest('hex'), seed: SEED, questionsPerSet, questions: trials.length },
  plain: fitPlain(trials),
  regimes: {
    names: fitAndTell('names'),
    texts: fitAndTell('texts'),
    phrases: fitAndTell('phrases'),
    head: fitAndTell('head'),
    learnt: fitAndTell('learnt'),
  },
};
print(`all: ${told(heldOut)}\n`);
print(reliabilityTable(heldOut));
print(setErrors(heldOut));
const path = join(resolveModelsPath(), model.folder, RELEVANCE_FILE);
writeFileSync(path, `${JSON.stringify(weights, null, 2)}\n`);
print(`${JSON.stringify(weights, null, 1)}\nwritten: ${RELEVANCE_FILE} beside ${model.id}`);
