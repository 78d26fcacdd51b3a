/**
 * Capabilities of other catalogues, put around a set that has questions, since few sets hold more than some hundred of
 * their own. Nobody labelled whether one of them serves a question too: bench/sizes.ts tells how often that can be.
 */
import { join } from 'node:path';
import type { LexicalDocument } from '../../src/lexical-index/index.ts';
import { capability, readRows, SEED, seededRandom, shuffled, text } from './rows.ts';

/** File of train/, and how many of it are taken; all are of one kind, so the longest is not to drown the others. */
const CATALOGUES: readonly (readonly [name: string, most: number])[] = [
  ['tensorblock_mcp', 1_500],
  ['public_apis', 1_425],
  ['seal_tools', 1_500],
  ['awesome_mcp_zh', 702],
  ['mcp_registry_seed', 465],
  ['chatgpt_plugins', 389],
  ['docker_mcp_registry', 328],
  ['claude_subagents', 158],
];

/** Of some only the name is known, as in registries of many hands. */
const BARE_EVERY = 4;

export interface Distractor {
  readonly catalogue: string;
  readonly document: LexicalDocument;
}

/** In one order for all sets, seeded; catalogues that the questions of a set are of are left out by the set. */
export function distractorsOf(folder: string): Distractor[] {
  const all = CATALOGUES.flatMap(([catalogue, most]) => {
    const rows = shuffled(readRows(join(folder, `${catalogue}_tools.jsonl.gz`)), seededRandom(SEED + 20)).slice(
      0,
      most,
    );
    return rows.map((row, at) => {
      const description = at % BARE_EVERY === 0 ? '' : text(row, 'description');
      return { catalogue, document: capability(`${catalogue} ${text(row, 'id')}`, text(row, 'name'), description) };
    });
  });
  return shuffled(all, seededRandom(SEED + 21));
}

/** MCPM lists servers that other catalogues of servers list too, and MetaTool the plugins of ChatGPT. */
const SAME_TOOLS: Readonly<Record<string, RegExp>> = {
  seal_tools: /^seal_tools$/,
  mcpm: /mcp/,
  metatool: /^chatgpt_plugins$/,
};

export function foreignTo(set: string, distractors: readonly Distractor[]): LexicalDocument[] {
  const own = SAME_TOOLS[set.split('/')[0] ?? ''];
  return distractors.filter(({ catalogue }) => own?.test(catalogue) !== true).map(({ document }) => document);
}
