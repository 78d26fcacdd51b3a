/**
 * Fits what turns evidence into relevance (src/routing/relevance/relevance-model.ts) on train/ alone and writes it
 * beside the model, with the model's fingerprint:
 *
 *   npm run fit -- --data FOLDER [--model ID] [--queries N] [--cache FOLDER]
 *
 * FOLDER holds train/ and dev/ as gzip JSON lines. The one file of dev/ that is read is the list of MetaTool's tools,
 * which has no queries. Each set is cut into registries of several sizes; a quarter of the capabilities stays out, so
 * that some queries go unserved. Half of the registries fit, the other half says how good the fit is.
 */
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
import { collect, type FieldTrial, fitRegime, heldOut, textsOfSets } from './accuracy/field-trials.ts';
import { embedAll } from './accuracy/vector-cache.ts';
import { trainingSets } from './calibration/routing-sets.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    model: { type: 'string', default: DEFAULT_MODEL_ID },
    queries: { type: 'string', default: '200' },
    cache: { type: 'string' },
  },
});
if (values.data === undefined) throw new Error('--data FOLDER is missing');
const model = modelById(values.model);
const metatoolTools = join(values.data, 'dev', 'metatool_tools.jsonl.gz');
const sets = trainingSets(join(values.data, 'train'), metatoolTools, Number(values.queries));
const vectorOf = await embedAll(textsOfSets(sets), model, values.cache);
const trials = sets.flatMap((set) => collect(set, vectorOf, model));

const rounded = (names: readonly string[], weights: readonly number[]): Record<string, number> =>
  Object.fromEntries(names.map((name, at) => [name, Math.round((weights[at] ?? 0) * 1000) / 1000]));

function fitAndTell(regime: EvidenceRegime): RegimeWeights {
  const own = trials.filter((trial) => trial.field.regime === regime);
  const isEven = (trial: FieldTrial): boolean => trial.registry % 2 === 0;
  const tried = heldOut(
    fitRegime(own.filter(isEven)),
    own.filter((trial) => !isEven(trial)),
  );
  process.stdout.write(`${regime}: ${own.length} questions; on the other half: ${tried}\n`);
  const { ranking, trust } = fitRegime(own);
  return { ranking: rounded(RANKING_FEATURES, ranking), trust: rounded(TRUST_FEATURES, trust) };
}

const weights: RelevanceWeights = {
  fingerprint: model.fingerprint,
  regimes: {
    names: fitAndTell('names'),
    texts: fitAndTell('texts'),
    phrases: fitAndTell('phrases'),
    head: fitAndTell('head'),
  },
};
const path = join(resolveModelsPath(), model.folder, RELEVANCE_FILE);
writeFileSync(path, `${JSON.stringify(weights, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(weights.regimes, null, 1)}\nwritten: ${RELEVANCE_FILE} beside ${model.id}\n`);
