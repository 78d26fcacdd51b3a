import { beforeAll, describe, expect, it } from 'vitest';
import { openOfflineService } from '../../src/app/index.ts';
import { evaluationPage } from '../../src/cli/evaluation-page.ts';
import type { EvaluationReport } from '../../src/contract/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { evaluate } from '../../src/routing/index.ts';
import { parseMarkup } from './markup.ts';

const AGENT = (agentId: string, capability: object) => ({
  agentId,
  capabilities: [capability],
  transport: { type: 'http', endpoint: `http://127.0.0.1:9/${agentId}` },
});

/** Two describe themselves alike, and two names read alike, so that one of these is never the first. */
const REGISTRATIONS = [
  AGENT('weather', { name: 'weather.query.city', description: 'weather forecast for a city' }),
  AGENT('twin', { name: 'sky.tell.state', description: 'weather forecast for a city' }),
  AGENT('first', { name: 'paper.copy_make.now' }),
  AGENT('hidden', { name: 'paper_copy.make.now' }),
];
const LINES = [
  { text: 'forecast for the <city> & "all" of it', capability: 'weather.query.city' },
  { text: 'copy paper now', capability: 'paper.copy_make.now' },
  { text: 'make a copy of paper', capability: 'paper_copy.make.now' },
  { text: 'print', capability: 'paper.copy_make.new' },
  { text: 'zzz qqq', capability: null },
];

let report: EvaluationReport;

beforeAll(async () => {
  const source = await openOfflineService({ registrations: REGISTRATIONS }, { embedder: new HashEmbedder() });
  try {
    const options = { source: { kind: 'registry', place: 'file' }, namespace: 'default', minSimilarity: 0.9 } as const;
    report = await evaluate(source, LINES, options);
  } finally {
    await source.close();
  }
});

describe('a report of a registry with twins and a capability out of reach', () => {
  it('names both', () => {
    expect(report.nearDuplicates).toEqual(
      expect.arrayContaining([expect.objectContaining({ capability: 'sky.tell.state', other: 'weather.query.city' })]),
    );
    expect(report.unreachable).toMatchObject([
      { capability: 'paper_copy.make.now', foundInstead: 'paper.copy_make.now' },
    ]);
  });

  it('is a well-formed page that shows them', () => {
    const gates = [{ flag: '--min-hit1', wanted: 0.9, got: 0.5, isMet: false }] as const;
    const page = evaluationPage(report, gates);
    const { sections } = parseMarkup(page);
    expect(() => parseMarkup(page.replace('</figure>', ''))).toThrow('closes <figure>');
    expect([...sections.keys()].length).toBeGreaterThan(6);
    expect(sections.get('Near-duplicates')).toContain('sky.tell.stateweather.query.city');
    expect(sections.get('Out of reach')).toContain('paper_copy.make.now is found by none of its own texts');
    expect(sections.get('Out of reach')).toContain('paper.copy_make.new is named by 1 lines');
    expect(sections.get('Confusions')).not.toContain('none');
  });

  it('is self-contained: nothing is fetched, run or linked', () => {
    const page = evaluationPage(report, []);
    const { tags } = parseMarkup(page);
    expect(page).not.toMatch(/https?:|\/\/|url\(|@import/);
    const names = new Set(tags.map(({ name }) => name));
    for (const name of ['script', 'link', 'img', 'iframe', 'object', 'a', 'use', 'image'])
      expect(names).not.toContain(name);
    for (const { attributes } of tags)
      expect(Object.keys(attributes).join()).not.toMatch(/(^|,)(src|href|xlink|on[a-z]+)/);
    expect(tags.find(({ attributes }) => attributes['http-equiv'] !== undefined)?.attributes.content).toContain(
      "default-src 'none'",
    );
  });

  it('is drawn without anything to show too', () => {
    const none = { ...report, nearDuplicates: [], unreachable: [], unknownCapabilities: [], confusions: [] };
    const { sections } = parseMarkup(evaluationPage(none, []));
    expect(sections.get('Near-duplicates')?.trim()).toBe('none');
    expect(sections.get('Out of reach')?.trim()).toBe('none');
  });
});
