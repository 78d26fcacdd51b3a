/** The measuring sets in full: every query of every capability, with 0, 1, 4 and 8 phrases where phrases can be had. */
import { join } from 'node:path';
import { intentSet, type RoutingSet, toolSet } from '../calibration/routing-sets.ts';
import { readRows, text } from '../calibration/rows.ts';

const PHRASES = [0, 1, 4, 8];

export function devSets(folder: string): RoutingSet[] {
  const read = (name: string) => readRows(join(folder, `${name}.jsonl.gz`));
  const xsid = read('xsid');
  const inLanguage = (language: string) => xsid.filter((row) => text(row, 'lang').startsWith(language));
  const english = xsidPhrases(inLanguage('en'));
  return [
    ...PHRASES.map((phrases) => intentSet('clinc150', read('clinc150'), phrases, [])),
    ...PHRASES.map((phrases) => intentSet('banking77', read('banking77'), phrases, [])),
    ...PHRASES.flatMap((phrases) => [english(phrases), { ...xsidPhrases(inLanguage('zh'))(phrases), languages: 'zh' }]),
    toolSet('metatool', read('metatool_tools'), read('metatool_queries'), []),
  ];
}

/** Labels with too few texts to be asked are kept as competitors. Names are English, phrases of the language asked. */
function xsidPhrases(rows: ReturnType<typeof readRows>): (phrases: number) => RoutingSet {
  return (phrases) => ({ ...intentSet('xsid', rows, phrases, []), languages: 'en' });
}
