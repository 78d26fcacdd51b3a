/**
 * How often the right capability is picked, and how honest the relevance is, on dev/ through the service's own code:
 *
 *   npm run bench:accuracy -- --data FOLDER [--model ID] [--cache FOLDER]
 *
 * FOLDER holds dev/ as gzip JSON lines. Seeded: a second run gives the same figures, the times aside. Writes
 * bench/results/accuracy.{json,md}. The cache holds embedded vectors and changes how long the run takes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_MODEL_ID, loadCalibration, modelById } from '../src/embedding/index.ts';
import { accuracyReport } from './accuracy/accuracy-report.ts';
import { textsDecided } from './accuracy/decisions.ts';
import { devSets } from './accuracy/dev-sets.ts';
import { textsOfSets } from './accuracy/field-trials.ts';
import { type Measured, measure, overall } from './accuracy/methods.ts';
import { routeCost } from './accuracy/route-cost.ts';
import { embedAll } from './accuracy/vector-cache.ts';
import { SEED } from './calibration/rows.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    model: { type: 'string', default: DEFAULT_MODEL_ID },
    cache: { type: 'string' },
  },
});
if (values.data === undefined) throw new Error('--data FOLDER is missing');
const model = modelById(values.model);
const { calibration, problem } = await loadCalibration(model);
if (problem !== null) process.stderr.write(`fitted relevance is not used: ${problem}\n`);
const sets = devSets(join(values.data, 'dev'));
const decided = sets.flatMap(({ queries }) => queries.flatMap(({ text }) => textsDecided(text)));
const vectorOf = await embedAll([...textsOfSets(sets), ...decided], model, values.cache);
const measured: Measured[] = [];
for (const set of sets) {
  process.stderr.write(`${set.name} ${set.languages}\n`);
  measured.push(await measure(set, vectorOf, model, calibration));
}

const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
const phrased = sets.find(({ name }) => name === 'clinc150/8');
if (phrased === undefined) throw new Error('no set has eight phrases a capability');
const questions = phrased.queries.slice(0, 500).map(({ text }) => text);
const { dimensions } = model;
const result = {
  data: 'dev: CLINC150, Banking77, MetaTool, xSID',
  seed: SEED,
  model: model.id,
  fingerprint: model.fingerprint,
  fittedOn: calibration.fitted?.origin?.dataDigest ?? null,
  commit: git('rev-parse', '--short', 'HEAD'),
  sets: measured.map(({ figures }) => figures),
  overall: overall(measured),
  cost:
    calibration.fitted === undefined
      ? null
      : routeCost(phrased.capabilities, questions, { vectorOf, dimensions, calibration }),
};
const folder = join(import.meta.dirname, 'results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'accuracy.json'), `${JSON.stringify(result, null, 1)}\n`);
const report = accuracyReport(result, readFileSync(join(import.meta.dirname, 'accuracy', 'tried.md'), 'utf8'));
writeFileSync(join(folder, 'accuracy.md'), report);
process.stdout.write(report);
