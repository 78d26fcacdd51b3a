import { describe, expect, it } from 'vitest';
import { CapabilityDictionary, parseCapabilityName } from '../../src/capability/index.ts';
import { AgentReachError, ManualClock } from '../../src/core/index.ts';
import { FeedbackBook, type FeedbackStore } from '../../src/registry/index.ts';
import { KeyValueFeedbackStore, MemoryStore } from '../../src/storage/index.ts';

const WEATHER = parseCapabilityName('weather.query.city');
const WORD = {
  intent: '外面要带伞吗',
  namespace: 'default',
  correct: 'weather.query.city',
  answered: 'mail.send.message',
  requestId: 'req_1',
};
const ALL = { limit: 100 };

function dictionary(): CapabilityDictionary {
  const known = new CapabilityDictionary();
  known.apply([
    {
      namespace: 'default',
      name: WEATHER,
      firstOwner: null,
      firstSeenAt: 0,
      status: 'active',
      replacedBy: null,
      sensitive: false,
      description: null,
      examples: [],
      revision: 0,
    },
  ]);
  return known;
}

function bookRig(options: { maxEach?: number; store?: FeedbackStore } = {}) {
  const clock = new ManualClock();
  const store = options.store ?? new KeyValueFeedbackStore(new MemoryStore());
  const examples: string[] = [];
  const parts = {
    clock,
    store,
    dictionary: dictionary(),
    addExample: async (_namespace: string, name: string, example: string) => {
      const isNew = !examples.includes(`${name} ${example}`);
      examples.push(`${name} ${example}`);
      return isNew;
    },
    ...(options.maxEach === undefined ? {} : { maxEach: options.maxEach }),
  };
  return { clock, store, examples, book: new FeedbackBook(parts), restarted: () => new FeedbackBook(parts) };
}

describe('feedback', () => {
  it('teaches nothing until an operator approves, and then the intent itself', async () => {
    const { book, examples, clock } = bookRig();
    const { feedback, created } = await book.report(WORD, 'web');
    expect(created).toBe(true);
    expect(feedback).toMatchObject({ ...WORD, id: 'fb_1', status: 'pending', reports: 1, createdBy: 'web' });
    expect(examples).toEqual([]);
    clock.advance(60_000);
    expect(await book.approve('fb_1', 'ops')).toMatchObject({
      status: 'approved',
      effect: 'example_added',
      decidedBy: 'ops',
      decidedAt: '2026-01-01T00:01:00.000Z',
    });
    expect(examples).toEqual(['weather.query.city 外面要带伞吗']);
    expect(book.pending).toBe(0);
  });

  it('teaches nothing by a rejection, nor where nothing registered was meant', async () => {
    const { book, examples } = bookRig();
    await book.report(WORD, 'web');
    await book.report({ ...WORD, correct: null }, 'web');
    expect(await book.reject('fb_1', 'ops')).toMatchObject({ status: 'rejected', effect: 'none' });
    expect(await book.approve('fb_2', 'ops')).toMatchObject({ status: 'approved', effect: 'none' });
    expect(examples).toEqual([]);
  });

  it('counts the same word with the pending one, also when two come at once', async () => {
    const { book } = bookRig();
    const [first, second] = await Promise.all([
      book.report(WORD, 'web'),
      book.report({ ...WORD, intent: ' 外面要带伞吗 ' }, 'app'),
    ]);
    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.feedback).toMatchObject({ id: 'fb_1', reports: 2, createdBy: 'web' });
    expect(book.list(ALL).items).toHaveLength(1);
  });

  it('decides once: the same decision again changes nothing, the other one is refused', async () => {
    const { book, examples } = bookRig();
    await book.report(WORD, 'web');
    await Promise.all([book.approve('fb_1', 'ops'), book.approve('fb_1', 'ops')]);
    expect(examples).toHaveLength(1);
    await expect(book.reject('fb_1', 'ops')).rejects.toMatchObject({ code: 'AR_ERR_FEEDBACK_DECIDED' });
    await expect(book.reject('fb_9', 'ops')).rejects.toMatchObject({ code: 'AR_ERR_FEEDBACK_NOT_FOUND' });
  });

  it.each([
    ['no words', { intent: '🙂' }, 'AR_ERR_INVALID_INTENT'],
    ['a malformed name', { correct: 'weather' }, 'AR_ERR_INVALID_CAPABILITY'],
    ['an unknown name', { correct: 'weather.query.town' }, 'AR_ERR_CAPABILITY_NOT_FOUND'],
    ['a known name of another namespace', { namespace: 'other' }, 'AR_ERR_CAPABILITY_NOT_FOUND'],
    ['a text too long for an example', { intent: 'rain '.repeat(101) }, 'AR_ERR_INVALID_REQUEST'],
  ])('refuses %s and keeps nothing', async (_what, change, code) => {
    const { book, store } = bookRig();
    await expect(book.report({ ...WORD, ...change }, 'web')).rejects.toMatchObject({ code });
    expect(book.list(ALL).items).toEqual([]);
    expect(await store.load()).toEqual([]);
  });

  it('says which name was probably meant', async () => {
    const { book } = bookRig();
    const refusal = book.report({ ...WORD, correct: 'weather.qurey.city' }, 'web');
    await expect(refusal).rejects.toMatchObject({ suggestions: ['weather.query.city'] });
  });

  it('is the same after a restart, and never gives an id twice', async () => {
    const rig = bookRig();
    await rig.book.report(WORD, 'web');
    await rig.book.report({ ...WORD, intent: 'umbrella?' }, 'web');
    await rig.book.approve('fb_1', 'ops');
    const again = rig.restarted();
    await again.load();
    expect(again.list(ALL)).toEqual(rig.book.list(ALL));
    expect((await again.report({ ...WORD, intent: 'sunny?' }, 'web')).feedback.id).toBe('fb_3');
  });

  it('stays pending when the example cannot be stored', async () => {
    const rig = bookRig();
    await rig.book.report(WORD, 'web');
    const failing = new FeedbackBook({
      clock: rig.clock,
      store: rig.store,
      dictionary: dictionary(),
      addExample: async () => {
        throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE');
      },
    });
    await failing.load();
    await expect(failing.approve('fb_1', 'ops')).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    expect(failing.list(ALL).items).toMatchObject([{ status: 'pending' }]);
  });

  it('bounds what waits and what is remembered', async () => {
    const { book, store } = bookRig({ maxEach: 2 });
    for (let i = 0; i < 5; i++) {
      const { feedback } = await book.report({ ...WORD, intent: `umbrella ${i}` }, 'web');
      await book.approve(feedback.id, 'ops');
    }
    expect(book.list(ALL).items.map((one) => one.id)).toEqual(['fb_5', 'fb_4']);
    expect(await store.load()).toHaveLength(2);
    await book.report({ ...WORD, intent: 'a' }, 'web');
    await book.report({ ...WORD, intent: 'b' }, 'web');
    await expect(book.report({ ...WORD, intent: 'c' }, 'web')).rejects.toMatchObject({ code: 'AR_ERR_OVERLOADED' });
  });

  it('pages newest first and filters', async () => {
    const { book } = bookRig();
    for (let i = 1; i <= 5; i++) await book.report({ ...WORD, intent: `umbrella ${i}` }, 'web');
    await book.reject('fb_4', 'ops');
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = book.list({ limit: 2, status: 'pending', ...(cursor ? { cursor } : {}) });
      seen.push(...page.items.map((one) => one.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(['fb_5', 'fb_3', 'fb_2', 'fb_1']);
    expect(() => book.list({ limit: 2, cursor: 'x' })).toThrow(
      expect.objectContaining({ code: 'AR_ERR_INVALID_CURSOR' }),
    );
  });

  it('pages and forgets by number, in whatever order another instance tells of them', async () => {
    const others = bookRig();
    for (let i = 1; i <= 5; i++) await others.book.report({ ...WORD, intent: `umbrella ${i}` }, 'web');
    for (const id of ['fb_1', 'fb_2', 'fb_3']) await others.book.reject(id, 'ops');
    const byId = new Map((await others.store.load()).map((record) => [record.id, record]));
    const put = ['fb_4', 'fb_3', 'fb_1', 'fb_5', 'fb_2'].flatMap((id) => byId.get(id) ?? []);
    const { book } = bookRig({ maxEach: 3 });
    book.follow({ put, remove: [] });
    const first = book.list({ limit: 3 });
    const second = book.list({ limit: 3, cursor: first.nextCursor ?? '' });
    expect(first.items.map((one) => one.id)).toEqual(['fb_5', 'fb_4', 'fb_3']);
    expect(second.items.map((one) => one.id)).toEqual(['fb_2', 'fb_1']);
    await book.reject('fb_4', 'ops');
    expect(book.list(ALL).items.map((one) => one.id)).toEqual(['fb_5', 'fb_4', 'fb_3', 'fb_2']);
  });

  it('takes nothing after a stop', async () => {
    const { book } = bookRig();
    await book.stop();
    await expect(book.report(WORD, 'web')).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
  });
});
