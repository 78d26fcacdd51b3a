/**
 * Fits what turns evidence into relevance (src/routing/relevance/relevance-model.ts) on train/ alone and writes it
 * beside the model, with the model's fingerprint, the seed and a digest of the data: the same data give the same file.
 *
 *   npm run fit -- --data FOLDER [--model ID] [--queries N] [--cache FOLDER]
 *
 * FOLDER holds train/ and dev/ as gzip JSON lines. The one file of dev/ that is read is the list of MetaTool's tools,
 * which has no queries. Each set is cut into registries of 2 to 5,000 capabilities; a quarter of the capabilities
 * stays out, so that some queries go unserved. Printed for each regime: every family of sets asked of a fit on the
 * others, in all and by the size of the registry. Takes minutes of one core without the embedding.
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
import { fitRegime, type HeldOutAnswer, leaveOut, told } from './accuracy/regime-fit.ts';
import { embedAll } from './accuracy/vector-cache.ts';
import { SEED, trainingSets } from './calibration/routing-sets.ts';

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
const trials = sets.flatMap((set) => collect(set, vectorOf, model));
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const rounded = (names: readonly string[], weights: readonly number[]): Record<string, number> =>
  Object.fromEntries(names.map((name, at) => [name, Math.round((weights[at] ?? 0) * 1000) / 1000]));

const SIZES = [2, 7, 20, 150, 500, 5_000];
const heldOut: HeldOutAnswer[] = [];

function fitAndTell(regime: EvidenceRegime): RegimeWeights {
  const own = trials.filter((trial) => trial.field.regime === regime);
  const answers = leaveOut(own);
  heldOut.push(...answers);
  print(`${regime}: ${own.length} questions; of families left out: ${told(answers)}`);
  const { ranking, trust } = fitRegime(own);
  return { ranking: rounded(RANKING_FEATURES, ranking), trust: rounded(TRUST_FEATURES, trust) };
}

const weights: RelevanceWeights = {
  fingerprint: model.fingerprint,
  origin: { dataDigest: digest.digest('hex'), seed: SEED, questionsPerSet, questions: trials.length },
  regimes: {
    names: fitAndTell('names'),
    texts: fitAndTell('texts'),
    phrases: fitAndTell('phrases'),
    head: fitAndTell('head'),
  },
};
for (const [at, most] of SIZES.entries()) {
  const least = SIZES[at - 1] ?? 0;
  const own = heldOut.filter(({ trial }) => trial.capabilityCount > least && trial.capabilityCount <= most);
  if (own.length > 0) print(`${least + 1} to ${most} capabilities: ${told(own)}`);
}
print(`all: ${told(heldOut)}`);
const path = join(resolveModelsPath(), model.folder, RELEVANCE_FILE);
writeFileSync(path, `${JSON.stringify(weights, null, 2)}\n`);
print(`${JSON.stringify(weights.regimes, null, 1)}\nwritten: ${RELEVANCE_FILE} beside ${model.id}`);
