/**
 * Public intent and tool sets as one shape: capabilities, and queries with the ids that serve them (none = out of
 * scope). Files are gzip JSON lines in a folder given by the caller; nothing here reads the network.
 */
import { join } from 'node:path';
import type { LexicalDocument } from '../../src/lexical-index/index.ts';
import { type Distractor, distractorsOf, foreignTo } from './distractors.ts';
import { capability, type Row, readRows, SEED, seededRandom, shuffled, text } from './rows.ts';

export interface LabelledQuery {
  readonly text: string;
  readonly rightIds: readonly string[];
}

export interface RoutingSet {
  readonly name: string;
  /** Languages of queries and of descriptions, as `zh>en`. */
  readonly languages: string;
  readonly capabilities: readonly LexicalDocument[];
  readonly queries: readonly LabelledQuery[];
  /** Registry sizes to draw; under the number of capabilities unless the set has out-of-scope queries. */
  readonly sizes: readonly number[];
  /** Capabilities of other catalogues that may stand around its own, and the sizes to draw with them. */
  readonly crowd?: { readonly others: readonly LexicalDocument[]; readonly sizes: readonly number[] };
}

export function trainingSets(folder: string, metatoolTools: string, perSet: number): RoutingSet[] {
  const read = (name: string): Row[] => readRows(join(folder, `${name}.jsonl.gz`));
  const clinc = read('clinc150');
  const lobeTools = read('lobe_chat_agents_tools').filter((row) => row.description_zh !== undefined);
  const lobeQueries = read('lobe_chat_agents_queries');
  const lobe = ['en', 'zh'].flatMap((asked) =>
    ['en', 'zh'].map((told) => ({
      name: 'lobe',
      languages: `${asked}>${told}`,
      capabilities: lobeTools.map((row) => lobeTool(row, told === 'zh')),
      queries: toolQueries(lobeQueries.filter((row) => text(row, 'lang').slice(0, 2) === asked)),
      sizes: [2, 5, 20, 100, 380],
    })),
  );
  const metatool = toolSet('metatool', readRows(metatoolTools), read('metatool_queries'), [2, 5, 20, 100, 150]);
  const crosswoz = crosswozSet(read('crosswoz'));
  const sets: RoutingSet[] = [
    ...[0, 1, 4, 8].map((phrases) => intentSet('clinc150', clinc, phrases, [2, 5, 20, 100, 150])),
    intentSet('snips', read('snips'), 0, [2, 5]),
    intentSet('snips', read('snips'), 4, [2, 5]),
    crosswoz,
    { ...bare(crosswoz), languages: 'zh>en' },
    toolSet('seal_tools', read('seal_tools_tools'), read('seal_tools_queries'), [5, 20, 100, 500]),
    toolSet('toolalpaca', read('toolalpaca_tools'), read('toolalpaca_queries'), [5, 20, 70]),
    toolSet('mcpm', read('mcpm_registry_tools'), read('mcpm_registry_queries'), [5, 20, 100, 280]),
    metatool,
    bare(metatool),
    bare(toolSet('seal_tools', read('seal_tools_tools'), read('seal_tools_queries'), [20, 100])),
    ...[4, 8].map((phrases) => withPhrases(metatool, phrases, [20, 100])),
    ...lobe,
    ...lobe.filter(({ languages }) => languages === 'en>en').map((set) => withPhrases(set, 2, [20, 100])),
  ];
  const distractors = distractorsOf(folder);
  const chatter = shuffled(read('tatoeba'), seededRandom(SEED + 10)).slice(0, Math.ceil(perSet * CHATTER_SHARE));
  return sets.map((set) => withChatter(crowded(sampled(set, perSet), distractors), chatter));
}

/** Labels as names; the first `phrases` texts of a label become its examples and are not asked. */
export function intentSet(name: string, rows: readonly Row[], phrases: number, sizes: readonly number[]): RoutingSet {
  const examples = new Map<string, string[]>();
  const queries: LabelledQuery[] = [];
  for (const row of shuffled(rows, seededRandom(SEED))) {
    const label = text(row, 'label');
    if (label === 'oos') {
      queries.push({ text: text(row, 'text'), rightIds: [] });
      continue;
    }
    const own = examples.get(label) ?? [];
    examples.set(label, own);
    if (own.length < phrases) own.push(text(row, 'text'));
    else queries.push({ text: text(row, 'text'), rightIds: [label] });
  }
  const capabilities = [...examples].map(([label, own]) => capability(label, label, '', own));
  return { name: `${name}/${phrases}`, languages: 'en>en', capabilities, queries, sizes };
}

export function toolSet(
  name: string,
  tools: readonly Row[],
  queries: readonly Row[],
  sizes: readonly number[],
): RoutingSet {
  const capabilities = tools.map((row) => capability(text(row, 'id'), text(row, 'name'), text(row, 'description')));
  return { name, languages: 'en>en', capabilities, queries: toolQueries(queries), sizes };
}

/** Sentences that ask for nothing, for each question of a set. */
const CHATTER_SHARE = 0.2;

function withChatter(set: RoutingSet, chatter: readonly Row[]): RoutingSet {
  const told = chatter.map((row) => ({ text: text(row, set.languages.slice(0, 2)), rightIds: [] }));
  return { ...set, queries: [...set.queries, ...told] };
}

/** One set a kind of evidence and family, so that no family weighs more for being cut in many ways. */
const CROWDED =
  /^(clinc150\/[048] |snips\/[04] |crosswoz zh>zh|(seal_tools|metatool)(\/bare)? |(toolalpaca|mcpm|metatool\/8) |lobe (zh>|en>en))/;

/** Large registries are of many hands: other catalogues around the capabilities that the questions are about. */
function crowded(set: RoutingSet, distractors: readonly Distractor[]): RoutingSet {
  if (!CROWDED.test(`${set.name} ${set.languages}`)) return set;
  return { ...set, crowd: { others: foreignTo(set.name, distractors), sizes: [50, 150, 500, 1_500, 5_000] } };
}

/** Names alone, as many registries begin. */
function bare(set: RoutingSet): RoutingSet {
  const capabilities = set.capabilities.map((one) => ({ ...one, descriptions: [] }));
  return { ...set, name: `${set.name}/bare`, capabilities };
}

/** The first queries of each tool become its examples and are not asked; tools with too few are left out. */
function withPhrases(set: RoutingSet, phrases: number, sizes: readonly number[]): RoutingSet {
  const examples = new Map<string, string[]>();
  const queries: LabelledQuery[] = [];
  for (const query of shuffled(set.queries, seededRandom(SEED + 6))) {
    const own = examples.get(query.rightIds[0] ?? '') ?? [];
    if (query.rightIds.length === 1 && own.length < phrases) {
      examples.set(query.rightIds[0] ?? '', [...own, query.text]);
    } else queries.push(query);
  }
  const capabilities = set.capabilities.flatMap((one) => {
    const own = examples.get(one.id) ?? [];
    return own.length < phrases ? [] : [{ ...one, examples: own }];
  });
  return { ...set, name: `${set.name}/${phrases}`, capabilities, queries, sizes };
}

function toolQueries(rows: readonly Row[]): LabelledQuery[] {
  return rows.map((row) => ({ text: text(row, 'text'), rightIds: row.tool_ids as string[] }));
}

function lobeTool(row: Row, isChinese: boolean): LexicalDocument {
  return capability(text(row, 'id'), text(row, 'name'), text(row, isChinese ? 'description_zh' : 'description'));
}

const CROSSWOZ_NAMES: Readonly<Record<string, string>> = {
  餐馆: 'food find restaurant',
  景点: 'travel find attraction',
  酒店: 'travel find hotel',
  出租: 'travel call taxi',
  地铁: 'travel find subway',
};

/** Chinese requests about a city; small talk ("General") is out of scope. */
function crosswozSet(rows: readonly Row[]): RoutingSet {
  const capabilities = Object.entries(CROSSWOZ_NAMES).map(([label, name]) => capability(name, name, label));
  const queries = rows.map((row) => {
    const label = text(row, 'label');
    return { text: text(row, 'text'), rightIds: CROSSWOZ_NAMES[label] === undefined ? [] : [CROSSWOZ_NAMES[label]] };
  });
  return { name: 'crosswoz', languages: 'zh>zh', capabilities, queries, sizes: [2, 5] };
}

/** Out-of-scope rows are few and all kept. */
function sampled(set: RoutingSet, perSet: number): RoutingSet {
  const random = seededRandom(SEED + 4);
  const known = new Set(set.capabilities.map(({ id }) => id));
  const asked = set.queries.filter(({ rightIds }) => rightIds.some((id) => known.has(id)));
  const outside = set.queries.filter(({ rightIds }) => rightIds.length === 0);
  const queries = [...shuffled(asked, random).slice(0, perSet), ...shuffled(outside, random).slice(0, perSet)];
  return { ...set, queries };
}
