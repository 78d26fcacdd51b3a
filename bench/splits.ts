/**
 * How often requests are taken apart, of public training sets given by argument: those that are one (by their labels)
 * should stay whole, and two joined by a conjunction should not. Asks the service's own code; needs no service.
 *
 *     npx tsx bench/splits.ts --data FOLDER --tools FILE [--per-set 400] [--cache FOLDER] [--show]
 */
import { parseArgs } from 'node:util';
import { canonicalText } from '../src/core/index.ts';
import { loadCalibration, modelById } from '../src/embedding/index.ts';
import { readIntent } from '../src/routing/intent-reading.ts';
import type { RecallResult } from '../src/routing/recall.ts';
import { fuse } from '../src/routing/relevance/fusion.ts';
import { textsDecided } from './accuracy/decisions.ts';
import { queryForm, TrialRegistry, textsOfDocument } from './accuracy/trial-registry.ts';
import { embedAll } from './accuracy/vector-cache.ts';
import { chooseCapabilities } from './calibration/choose-capabilities.ts';
import { type RoutingSet, trainingSets } from './calibration/routing-sets.ts';
import { readRows, seededRandom, shuffled, text } from './calibration/rows.ts';

interface Question {
  readonly text: string;
  readonly isOne: boolean;
}

interface Trial {
  readonly name: string;
  readonly documents: RoutingSet['capabilities'];
  readonly questions: readonly Question[];
}

const JOINS = { en: [' and ', ', then ', '. ', ' and then ', ', '], zh: ['然后', '，', '。', '，然后', '，顺便'] };
/** Sets whose labels name one capability a request; the requests of the others often hold several. */
const SINGLE = /^(clinc150\/[08]|snips\/[04]|metatool|mcpm|lobe$)/;
const MAX_CAPABILITIES = 160;
const EMBEDDED_ELSEWHERE = { matchedBy: 'semantic', degradedReason: null, stages: { embed: 0, recall: 0 } } as const;

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    tools: { type: 'string' },
    'per-set': { type: 'string', default: '400' },
    cache: { type: 'string' },
    show: { type: 'boolean', default: false },
  },
});
if (values.data === undefined || values.tools === undefined) throw new Error('give --data FOLDER and --tools FILE');
const perSet = Number(values['per-set']);
const model = modelById('zh-en-small');
const { calibration } = await loadCalibration(model);

function trialsOf(sets: readonly RoutingSet[], folder: string): Trial[] {
  const trials: Trial[] = [];
  for (const set of sets.filter(({ name }) => SINGLE.test(name))) {
    const size = Math.max(...set.sizes.filter((one) => one <= MAX_CAPABILITIES));
    const queries = shuffled(set.queries, seededRandom(set.name.length * 77 + size));
    const documents = chooseCapabilities(set, queries, size, seededRandom(size));
    const known = new Set(documents.map(({ id }) => id));
    const single = queries.filter(({ rightIds }) => rightIds.length < 2).slice(0, perSet);
    const served = single.filter(({ rightIds: [id] }) => id !== undefined && known.has(id));
    const joins = JOINS[set.languages.startsWith('zh') ? 'zh' : 'en'];
    const joined = served.slice(0, -1).flatMap((one, at) => {
      const next = served[at + 1];
      if (at % 2 === 1 || next === undefined || next.rightIds[0] === one.rightIds[0]) return [];
      return { text: one.text.replace(/[.!?。]+$/u, '') + joins[at % joins.length] + next.text, isOne: false };
    });
    const questions = [...single.map((one) => ({ text: one.text, isOne: true })), ...joined];
    trials.push({ name: `${set.name} ${set.languages}`, documents, questions });
    if (set.name !== 'clinc150/8') continue;
    const massive = shuffled(readRows(`${folder}/massive_parallel_unlabelled.jsonl.gz`), seededRandom(5));
    for (const language of ['en', 'zh']) {
      const asked = massive.slice(0, perSet).map((row) => ({ text: text(row, language), isOne: true }));
      trials.push({ name: `massive ${language}, asked of clinc150/8`, documents, questions: asked });
    }
  }
  return trials;
}

function textsToEmbed({ documents, questions }: Trial): string[] {
  return [...documents.flatMap(textsOfDocument), ...questions.flatMap((question) => textsDecided(question.text))];
}

const trials = trialsOf(trainingSets(values.data, values.tools, perSet), values.data);
const vectorOf = await embedAll(new Set(trials.flatMap(textsToEmbed)), model, values.cache);
const sum = { ones: 0, split: 0, joined: 0, kept: 0 };
for (const { name, documents, questions } of trials) {
  const registry = new TrialRegistry(documents, vectorOf, model.dimensions);
  const sources = { ...registry.sources, head: registry.learn(calibration).head };
  const recall = async (canonical: string): Promise<RecallResult> => {
    const capabilities = fuse(sources, canonical, vectorOf(queryForm(canonical)), { calibration, recallK: 32 });
    return { capabilities, ...EMBEDDED_ELSEWHERE };
  };
  const counts = { ones: 0, split: 0, joined: 0, kept: 0 };
  for (const question of questions) {
    const canonical = canonicalText(question.text);
    const { parts, denied } = await readIntent(canonical, recall, { multiIntent: true });
    // How what is denied reads is another question.
    if (denied.length > 0) continue;
    counts[question.isOne ? 'ones' : 'joined'] += 1;
    if (question.isOne && parts.length > 0) {
      counts.split += 1;
      if (values.show) console.log(`  ${parts.map((part) => part.text).join(' | ')}`);
    }
    if (!question.isOne && parts.length === 0) counts.kept += 1;
  }
  for (const key of ['ones', 'split', 'joined', 'kept'] as const) sum[key] += counts[key];
  report(name, counts);
}
report('all', sum);

function report(name: string, { ones, split, joined, kept }: typeof sum): void {
  const share = (part: number, all: number): string => (all === 0 ? '-' : `${((100 * part) / all).toFixed(2)} %`);
  console.log(
    `${name}: ${ones} that are one, ${share(split, ones)} split; ${joined} joined, ${share(joined - kept, joined)} split`,
  );
}
