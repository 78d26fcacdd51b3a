import { describe, expect, it } from 'vitest';
import { type CapabilityName, canonicalText, systemClock } from '../../../src/core/index.ts';
import { DEFAULT_MODEL_ID, loadCalibration, modelById, TransformersEmbedder } from '../../../src/embedding/index.ts';
import { Bm25Index } from '../../../src/lexical-index/index.ts';
import { indexedCapability } from '../../../src/routing/indexed-capability.ts';
import { Recaller, type RecallResult } from '../../../src/routing/recall.ts';
import { DEFAULT_ROUTING } from '../../../src/routing/routing-options.ts';
import { SearchView } from '../../../src/routing/search-view.ts';
import { FlatIndex } from '../../../src/vector-index/index.ts';
import { CAPABILITIES, type MiniCapability, SERVED, UNSERVED } from './mini-set.ts';

interface Answer {
  readonly text: string;
  readonly isChinese: boolean;
  readonly relevance: number;
  readonly isRight: boolean;
}

/** The model and the weights as shipped, over the parts of the service that recall uses. */
async function answersOf(capabilities: readonly MiniCapability[]): Promise<{ served: Answer[]; unserved: Answer[] }> {
  const model = modelById(DEFAULT_MODEL_ID);
  const { calibration, problem } = await loadCalibration(model);
  expect(problem).toBeNull();
  const embedder = new TransformersEmbedder({ model });
  await embedder.start();
  const vectors = new FlatIndex(model.dimensions);
  const view = new SearchView(vectors, () => new Bm25Index());
  for (const { name, description, examples } of capabilities) {
    const entry = indexedCapability({
      namespace: 'default',
      name: name as CapabilityName,
      descriptions: [description],
      aliases: [],
      examples: [...examples],
      sensitive: false,
    });
    const embedded = await embedder.embed(
      entry.texts.map(({ text }) => text),
      { kind: 'document' },
    );
    for (const [at, { hash }] of entry.texts.entries()) vectors.upsert(hash, embedded[at] ?? new Float32Array());
    view.put(entry);
  }
  const recaller = new Recaller({ clock: systemClock, embedder, calibration, indexer: view });
  const ask = (text: string): Promise<RecallResult> =>
    recaller.recall('default', canonicalText(text), { recallK: DEFAULT_ROUTING.recallK, embedTimeoutMs: 20_000 });
  const answer = async (text: string, name: string | null): Promise<Answer> => {
    const [best] = (await ask(text)).capabilities;
    return {
      text,
      isChinese: /\p{Script=Han}/u.test(text),
      relevance: best?.relevance ?? 0,
      isRight: best?.name === name,
    };
  };
  const known = capabilities.map(({ name }) => name);
  const served = known.flatMap((name) => (SERVED[name] ?? []).map((text) => answer(text, name)));
  const unserved = UNSERVED.map((text) => answer(text, null));
  const answers = { served: await Promise.all(served), unserved: await Promise.all(unserved) };
  await embedder.stop();
  return answers;
}

const share = (answers: readonly Answer[], holds: (one: Answer) => boolean): number =>
  answers.filter(holds).length / answers.length;
const isRight = (one: Answer): boolean => one.isRight;
const isRefused = ({ relevance }: Answer): boolean => relevance < DEFAULT_ROUTING.minRelevance;

/** Expected calibration error over five bins; the set is too small for ten. */
function calibrationError(answers: readonly Answer[]): number {
  const gaps = [0, 0, 0, 0, 0];
  for (const { relevance, isRight } of answers) {
    const bin = Math.min(4, Math.floor(relevance * 5));
    gaps[bin] = (gaps[bin] ?? 0) + relevance - (isRight ? 1 : 0);
  }
  return gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / answers.length;
}

describe('relevance as shipped', () => {
  it('answers a small registry in both languages, and says how sure it is', { timeout: 120_000 }, async () => {
    const { served, unserved } = await answersOf(CAPABILITIES);
    const chinese = served.filter(({ isChinese }) => isChinese);
    const english = served.filter(({ isChinese }) => !isChinese);
    expect(share(english, isRight)).toBeGreaterThanOrEqual(0.94);
    expect(share(chinese, isRight)).toBeGreaterThanOrEqual(0.91);
    expect(share(served, isRefused)).toBeLessThanOrEqual(0.06);
    expect(share(unserved, isRefused)).toBeGreaterThanOrEqual(0.8);
    expect(calibrationError([...served, ...unserved])).toBeLessThanOrEqual(0.12);
  });

  it('is not surer of what nothing serves because there are only two to choose from', {
    timeout: 120_000,
  }, async () => {
    const two = CAPABILITIES.filter(({ name }) => ['weather.query.city', 'mail.send.message'].includes(name));
    const { served, unserved } = await answersOf(two);
    expect(share(served, isRight)).toBe(1);
    expect(share(served, isRefused)).toBe(0);
    expect(share(unserved, isRefused)).toBeGreaterThanOrEqual(0.8);
  });

  it('does not take the only capability that there is for whatever is asked', { timeout: 120_000 }, async () => {
    const { served, unserved } = await answersOf(CAPABILITIES.filter(({ name }) => name === 'parcel.track.shipment'));
    expect(share(served, isRefused)).toBe(0);
    expect(share(unserved, isRefused)).toBeGreaterThanOrEqual(0.8);
  });
});
