/**
 * What the minimum relevance that phrases teach changes, and how denials are read, on training sets by the service's own
 * decisions. A quarter of the capabilities of each set stays out, so that some requests go unserved.
 *
 *     npx tsx bench/refusals.ts --data FOLDER --tools FILE [--per-set 300] [--cache FOLDER]
 *
 * FOLDER is train/, FILE the list of MetaTool's tools.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_MODEL_ID, loadCalibration, modelById } from '../src/embedding/index.ts';
import { type DecisionFigures, deciderOf, decisionFigures, textsDecided } from './accuracy/decisions.ts';
import { type Learnt, TrialRegistry, textsOfDocument } from './accuracy/trial-registry.ts';
import { embedAll } from './accuracy/vector-cache.ts';
import { chooseCapabilities } from './calibration/choose-capabilities.ts';
import { type LabelledQuery, type RoutingSet, trainingSets } from './calibration/routing-sets.ts';
import { SEED, seededRandom, shuffled } from './calibration/rows.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    tools: { type: 'string' },
    'per-set': { type: 'string', default: '300' },
    cache: { type: 'string' },
  },
});
if (values.data === undefined || values.tools === undefined) throw new Error('give --data FOLDER and --tools FILE');

const MOST = 50;
const PHRASED = /^(clinc150\/[48]|snips\/4|metatool\/[48]) /;
const DENIED = /^(clinc150\/[08]|metatool|lobe) (en>en|zh>zh)$/;

interface Trial {
  readonly name: string;
  readonly documents: RoutingSet['capabilities'];
  readonly asked: readonly LabelledQuery[];
  /** A request that nobody wants, before one that somebody does; `rightIds` are of the latter. */
  readonly denials: readonly LabelledQuery[];
}

function trialOf(set: RoutingSet): Trial {
  const random = seededRandom(SEED + set.name.length);
  const queries = shuffled(set.queries, random);
  const size = Math.min(MOST, Math.floor((set.capabilities.length * 3) / 4));
  const documents = chooseCapabilities(set, queries, size, random);
  const known = new Set(documents.map(({ id }) => id));
  const asked = queries.map((query) => ({ ...query, rightIds: query.rightIds.filter((id) => known.has(id)) }));
  const served = asked.filter(({ rightIds }) => rightIds.length === 1);
  const denials = served.slice(1).flatMap((wanted, at) => {
    const unwanted = served[at];
    if (unwanted === undefined || unwanted.rightIds[0] === wanted.rightIds[0]) return [];
    const text = unwanted.text.replace(/[.!?。？！]+$/u, '');
    const isChinese = set.languages.startsWith('zh');
    return [{ ...wanted, text: isChinese ? `不要${text}，${wanted.text}` : `don't ${text}, ${wanted.text}` }];
  });
  return { name: `${set.name} ${set.languages}`, documents, asked, denials };
}

const percent = (share: number): string => (100 * share).toFixed(1);
function tell(what: string, { right, wrong, refused, split, unservedRefused }: DecisionFigures): void {
  const served = `right ${percent(right)}, wrong ${percent(wrong)}, refused ${percent(refused)}, split ${percent(split)}`;
  console.log(`  ${what}: ${served}; unserved: refused ${percent(unservedRefused)}`);
}

const model = modelById(DEFAULT_MODEL_ID);
const { calibration } = await loadCalibration(model);
const trials = trainingSets(values.data, values.tools, Number(values['per-set']))
  .filter((set) => PHRASED.test(`${set.name} `) || DENIED.test(`${set.name} ${set.languages}`))
  .map(trialOf);
const texts = trials.flatMap(({ documents, asked, denials }) => [
  ...documents.flatMap(textsOfDocument),
  ...[...asked, ...denials].flatMap(({ text }) => textsDecided(text)),
]);
const vectorOf = await embedAll(texts, model, values.cache);
for (const { name, documents, asked, denials } of trials) {
  const registry = new TrialRegistry(documents, vectorOf, model.dimensions);
  const learnt = registry.learn(calibration);
  const ask = (known: Learnt, questions: readonly LabelledQuery[]) =>
    decisionFigures(deciderOf({ registry, learnt: known, calibration, model, vectorOf }), questions);
  console.log(`${name}: ${documents.length} capabilities, ${asked.length} requests, ${denials.length} denials`);
  if (PHRASED.test(name)) tell('by the usual minimum', await ask({ head: learnt.head }, asked));
  if (PHRASED.test(name)) tell('by learnt thresholds', await ask(learnt, asked));
  if (DENIED.test(name)) tell('denials', await ask(learnt, denials));
}
