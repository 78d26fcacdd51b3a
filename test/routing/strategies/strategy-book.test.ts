import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type DiagnosticEvents,
  type ErrorCode,
  isAgentReachError,
  ManualClock,
  subscribe,
} from '../../../src/core/index.ts';
import { DEFAULT_ROUTING } from '../../../src/routing/routing-options.ts';
import { StrategyBook } from '../../../src/routing/strategies/strategy-book.ts';
import { KeyValueStrategyStore, MemoryStore } from '../../../src/storage/index.ts';

type Told = DiagnosticEvents['strategies.reloaded'];

const LOAD_FIRST = { default: { weights: { load: 1 } } };
const QUEUE_EARLY = { default: { queueLoad: 0.5 } };
const yaml = (document: unknown): string => JSON.stringify(document);

/** A book over a file whose text a test may change; undefined: it is gone; null: none is configured. */
function rig(text: string | undefined | null, store = new MemoryStore()) {
  const disk = { text };
  const told: Told[] = [];
  onTestFinished(subscribe('strategies.reloaded', (event) => told.push(event)));
  const read = async (): Promise<string> => {
    if (typeof disk.text === 'string') return disk.text;
    throw new Error('ENOENT: no such file');
  };
  const book = new StrategyBook({
    clock: new ManualClock(),
    store: new KeyValueStrategyStore(store),
    base: DEFAULT_ROUTING,
    file: text === null ? null : { path: 'strategies.yaml', read },
  });
  const results = (): string[] => told.splice(0).map(({ why, result, source }) => `${why} ${result} ${source}`);
  return { book, disk, told, results, store };
}

async function codeOf(work: Promise<unknown>): Promise<ErrorCode> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isAgentReachError(error)) return error.code;
  throw new Error('nothing was refused');
}

describe('the strategies in force', () => {
  it('are those of the config where nothing else is given', async () => {
    const { book, results } = rig(null);
    await book.load();
    expect(book.show()).toMatchObject({ source: 'config', document: null, file: null, api: null });
    expect(book.current.weights).toEqual(DEFAULT_ROUTING.weights);
    expect(results()).toEqual([]);
    expect(await codeOf(book.reload('asked'))).toBe('AR_ERR_NOT_FOUND');
  });

  it('are those of the file, and of a changed file at the next reload', async () => {
    const { book, disk, results } = rig(yaml(LOAD_FIRST));
    await book.load();
    expect(book.current.weights).toEqual({ load: 1 });
    const first = book.current.strategiesVersion;
    expect(await book.reload('asked')).toBe('unchanged');
    disk.text = yaml(QUEUE_EARLY);
    expect(await book.reload('asked')).toBe('applied');
    expect(book.current.queueLoad).toBe(0.5);
    expect(book.current.weights).toEqual(DEFAULT_ROUTING.weights);
    expect(book.current.strategiesVersion).not.toBe(first);
    expect(results()).toEqual(['start applied file', 'asked unchanged file', 'asked applied file']);
  });

  it.each([
    ['a file that cannot be read', undefined],
    ['a file of another kind', '{ not: [closed'],
    ['a file cut to nothing', ''],
    ['bad weights', yaml({ default: { weights: { load: 2 } } })],
  ])('stay as they were for %s, and heal with the file', async (_, bad) => {
    const { book, disk, results, told } = rig(yaml(LOAD_FIRST));
    await book.load();
    const before = book.current;
    results();
    disk.text = bad;
    expect(await codeOf(book.reload('signal'))).toBe('AR_ERR_INVALID_STRATEGIES');
    expect(book.current).toBe(before);
    expect(told[0]?.reason).toContain('strategies.yaml');
    expect(book.show().file?.problem).not.toBeNull();
    expect(results()).toEqual(['signal refused file']);
    disk.text = yaml(LOAD_FIRST);
    expect(await book.reload('watch')).toBe('unchanged');
    expect(book.show().file?.problem).toBeNull();
    expect(results()).toEqual(['watch unchanged file']);
  });

  it('are told once, however often a watch looks at the same flaw or the same content', async () => {
    const { book, disk, results } = rig(yaml(LOAD_FIRST));
    await book.load();
    results();
    await book.reload('watch');
    expect(results()).toEqual([]);
    disk.text = 'default: [';
    for (let i = 0; i < 3; i++) await book.reload('watch').catch(() => undefined);
    expect(results()).toEqual(['watch refused file']);
  });

  it('do not start with a file that cannot be used', async () => {
    expect(await codeOf(rig(undefined).book.load())).toBe('AR_ERR_INVALID_STRATEGIES');
    expect(await codeOf(rig('default: 7').book.load())).toBe('AR_ERR_INVALID_STRATEGIES');
  });
});

describe('what is put over the API', () => {
  it('goes before the file until it is removed, whatever the file says meanwhile', async () => {
    const { book, disk, results } = rig(yaml(LOAD_FIRST));
    await book.load();
    const reply = await book.put(QUEUE_EARLY, { by: 'ops' });
    expect(reply).toMatchObject({ source: 'api', document: QUEUE_EARLY, api: { setBy: 'ops', problem: null } });
    // One document at a time: of the file nothing is left in force.
    expect(book.current).toMatchObject({ queueLoad: 0.5, weights: DEFAULT_ROUTING.weights });
    disk.text = yaml({ default: { queueLoad: 0.9 } });
    expect(await book.reload('watch')).toBe('shadowed');
    expect(book.current.queueLoad).toBe(0.5);
    expect((await book.remove({ by: 'ops' })).source).toBe('file');
    expect(book.current.queueLoad).toBe(0.9);
    expect(results()).toEqual(['start applied file', 'put applied api', 'watch shadowed api', 'removed applied file']);
  });

  it('survives a restart, before the file', async () => {
    const first = rig(yaml(LOAD_FIRST));
    await first.book.load();
    await first.book.put(QUEUE_EARLY, { by: 'ops' });
    const second = rig(yaml(LOAD_FIRST), first.store);
    await second.book.load();
    expect(second.book.show()).toEqual(first.book.show());
    expect(second.book.current.queueLoad).toBe(0.5);
    await second.book.remove({ by: 'ops' });
    const third = rig(yaml(LOAD_FIRST), first.store);
    await third.book.load();
    expect(third.book.source).toBe('file');
  });

  it('changes nothing where it is bad, where another version is in force, or where it cannot be stored', async () => {
    const { book, store, results } = rig(yaml(LOAD_FIRST));
    await book.load();
    const before = book.current;
    results();
    expect(await codeOf(book.put({ default: { queueLoad: 7 } }, { by: 'ops' }))).toBe('AR_ERR_INVALID_STRATEGIES');
    expect(results()).toEqual(['put refused file']);
    const stale = { by: 'ops', expectedVersion: 'ffffffffffff' };
    expect(await codeOf(book.put(QUEUE_EARLY, stale))).toBe('AR_ERR_STRATEGIES_CONFLICT');
    expect(await codeOf(book.remove(stale))).toBe('AR_ERR_STRATEGIES_CONFLICT');
    await store.close();
    expect(await codeOf(book.put(QUEUE_EARLY, { by: 'ops' }))).toBe('AR_ERR_STORE_UNAVAILABLE');
    expect(book.current).toBe(before);
    expect(results()).toEqual([]);
  });

  it('lets one of two win that were based on the same version', async () => {
    const { book } = rig(null);
    await book.load();
    const { strategiesVersion: expectedVersion } = book.current;
    const edits = [QUEUE_EARLY, LOAD_FIRST].map((one) => book.put(one, { by: 'ops', expectedVersion }));
    const settled = await Promise.allSettled(edits);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(book.current.queueLoad).toBe(0.5);
  });

  it('stays stored where this version cannot use it; the file serves, and the problem is told', async () => {
    const store = new MemoryStore();
    const later = { default: { strategies: ['of_a_later_version'] } };
    await new KeyValueStrategyStore(store).save({ document: later, setBy: 'ops', setAt: 0 });
    const { book } = rig(yaml(LOAD_FIRST), store);
    await book.load();
    expect(book.source).toBe('file');
    expect(book.show().api?.problem).toContain('of_a_later_version');
    expect(await new KeyValueStrategyStore(store).load()).toMatchObject({ document: later });
  });

  it('is taken over from another instance, and told only where it changes something', async () => {
    const { book, results } = rig(null);
    await book.load();
    const stored = { document: QUEUE_EARLY, setBy: 'ops', setAt: 5 };
    book.adopt(stored);
    book.adopt(stored);
    expect(book.current.queueLoad).toBe(0.5);
    book.adopt(null);
    expect(book.source).toBe('config');
    expect(results()).toEqual(['adopted applied api', 'adopted applied config']);
  });
});
