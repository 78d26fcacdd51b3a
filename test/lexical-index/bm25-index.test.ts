import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bm25Index, type LexicalDocument } from '../../src/lexical-index/index.ts';

function doc(id: string, parts: Partial<Omit<LexicalDocument, 'id'>> = {}): LexicalDocument {
  return { id, name: id.replaceAll('.', ' '), aliases: [], descriptions: [], examples: [], ...parts };
}

function indexOf(...documents: LexicalDocument[]): Bm25Index {
  const index = new Bm25Index();
  for (const document of documents) index.upsert(document);
  return index;
}

const idsOf = (index: Bm25Index, query: string, topK = 10): string[] => index.search(query, topK).map((hit) => hit.id);

const weather = doc('weather.query.city', { descriptions: ['查询某个城市的天气预报'], examples: ['明天会下雨吗'] });
const mail = doc('mail.send.message', { descriptions: ['Send an email'], aliases: ['send_email'] });
const code = doc('code.write.function', { descriptions: ['用 Python 编写函数'] });

describe('Bm25Index', () => {
  it('finds Chinese words inside a sentence', () => {
    expect(idsOf(indexOf(weather, mail, code), '帮我看看杭州今天的天气')[0]).toBe('weather.query.city');
  });

  it('finds the English word of a mixed sentence', () => {
    expect(idsOf(indexOf(weather, mail, code), '用python写函数')[0]).toBe('code.write.function');
  });

  it('finds full width letters', () => {
    expect(idsOf(indexOf(weather, mail, code), 'ＥＭＡＩＬ')).toEqual(['mail.send.message']);
  });

  it('lets every spelling of an identifier meet every other', () => {
    const spellings = ['send_email', 'sendEmail', 'send email', 'send-email', 'SendEmail'];
    for (const alias of spellings) {
      const index = indexOf(doc('a.b.c', { aliases: [alias] }), doc('d.e.f', { aliases: ['open_file'] }));
      for (const query of [...spellings, 'sendemail']) expect(idsOf(index, query)).toEqual(['a.b.c']);
    }
  });

  it('ranks a hit in the name over the same hit in an example', () => {
    const index = indexOf(doc('note.play.song', { examples: ['translate'] }), doc('text.translate.document'));
    expect(idsOf(index, 'translate')).toEqual(['text.translate.document', 'note.play.song']);
  });

  it('says how much of the query a document covers', () => {
    const index = indexOf(weather, mail, code);
    const [whole] = index.search('send email', 1);
    expect(whole?.coverage).toBe(1);
    const [half] = index.search('email zebra', 1);
    expect(half?.coverage).toBeGreaterThan(0);
    expect(half?.coverage).toBeLessThan(0.5);
  });

  it('scores a word of one document alike in small and large registries', () => {
    const filler = (count: number): LexicalDocument[] =>
      Array.from({ length: count }, (_, at) => doc(`task.run.n${at}`, { descriptions: ['filler words here'] }));
    const scoreAmong = (count: number): number =>
      indexOf(doc('a.b.c', { descriptions: ['a zebra walks here'] }), ...filler(count)).search('zebra', 1)[0]?.score ??
      0;
    expect(scoreAmong(400) / scoreAmong(4)).toBeCloseTo(1, 1);
  });

  it('finds what was meant by a misspelt word', () => {
    const cancel = doc('billing.cancel.plan', { descriptions: ['Cancel a subscription'] });
    const index = indexOf(cancel, weather, mail, code);
    expect(idsOf(index, 'cancle my subscripton')).toEqual([cancel.id]);
    expect(idsOf(index, 'plaese send an emial')).toEqual([mail.id]);
  });

  it('takes a word that somebody knows for what it says', () => {
    const index = indexOf(doc('a.b.c', { descriptions: ['plane'] }), doc('d.e.f', { descriptions: ['plate'] }));
    expect(idsOf(index, 'plane')).toEqual(['a.b.c']);
  });

  it('counts a word in another inflexion as covered', () => {
    const index = indexOf(doc('text.translate.document'), mail);
    const [hit] = index.search('translations', 1);
    expect(hit).toMatchObject({ id: 'text.translate.document', coverage: 1 });
  });

  it('leaves numbers out that no document has', () => {
    const index = indexOf(weather, mail, doc('code.fix.error', { descriptions: ['status 404'] }));
    expect(index.search('send 42 email 3pm 2024-05-01', 1)).toEqual(index.search('send email', 1));
    expect(idsOf(index, '404')).toEqual(['code.fix.error']);
  });

  it('answers nothing to a query without words, and to an empty index', () => {
    const index = indexOf(weather, mail);
    for (const query of ['', '  ', '🎉', '???', 'please']) expect(index.search(query, 5)).toEqual([]);
    expect(new Bm25Index().search('weather', 5)).toEqual([]);
  });

  it('answers nothing to a topK that asks for nothing, and all to one that asks for more than there is', () => {
    const index = indexOf(weather, mail);
    for (const topK of [0, -1, Number.NaN]) expect(index.search('send weather', topK)).toEqual([]);
    expect(index.search('send weather', 1e9)).toHaveLength(2);
  });

  it('gives the same topK best as a longer list begins with', () => {
    const index = indexOf(
      ...Array.from({ length: 60 }, (_, at) =>
        doc(`task.run.n${at}`, { descriptions: [`job ${'filler '.repeat(at % 7)}`] }),
      ),
    );
    const all = index.search('run job', 100);
    expect(all).toHaveLength(60);
    expect(index.search('run job', 7)).toEqual(all.slice(0, 7));
  });

  it('breaks ties by id', () => {
    const index = indexOf(...['b.x.x', 'c.x.x', 'a.x.x'].map((id) => doc(id, { name: 'same words' })));
    expect(idsOf(index, 'same words')).toEqual(['a.x.x', 'b.x.x', 'c.x.x']);
  });

  it('forgets a removed document, and says whether there was one', () => {
    const index = indexOf(weather, mail);
    expect(index.remove('mail.send.message')).toBe(true);
    expect(index.remove('mail.send.message')).toBe(false);
    expect(index.size).toBe(1);
    expect(idsOf(index, 'send email')).toEqual([]);
  });

  it('answers by the newest text of an id', () => {
    const index = indexOf(weather, doc('a.b.c', { descriptions: ['old words'] }));
    index.upsert(doc('a.b.c', { descriptions: ['new text'] }));
    expect(index.size).toBe(2);
    expect(idsOf(index, 'old words')).toEqual([]);
    expect(idsOf(index, 'new text')).toEqual(['a.b.c']);
  });

  it('keeps nothing of removed documents, and uses their slots again', () => {
    const index = new Bm25Index();
    for (let round = 0; round < 50; round += 1) {
      index.upsert(weather);
      index.upsert({ ...mail, descriptions: [`round ${round} of many`] });
      index.remove(weather.id);
    }
    expect(index.stats.slots).toBe(1);
    index.remove(mail.id);
    expect(index.stats).toEqual({ documents: 0, terms: 0, postings: 0, slots: 0 });
  });

  it('takes a query of 10 kB and words that repeat without end', () => {
    const index = indexOf(weather, mail, code);
    const query = `${'天气预报明天会不会下雨'.repeat(400)}${'x'.repeat(5_000)}`;
    expect(idsOf(index, query)[0]).toBe('weather.query.city');
    index.upsert(doc('a.b.c', { examples: ['echo '.repeat(10_000)] }));
    expect(idsOf(index, 'echo')).toEqual(['a.b.c']);
  });
});

describe('order of changes', () => {
  const word = fc.constantFrom('send', 'mail', 'weather', '天气', '城市', 'query', '邮件', 'book', 'flight');
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
  const documents = fc.uniqueArray(
    fc.record({
      id: fc.stringMatching(/^[a-d]{1,2}$/u),
      name: text,
      aliases: fc.array(text, { maxLength: 2 }),
      descriptions: fc.array(text, { maxLength: 2 }),
      examples: fc.array(text, { maxLength: 2 }),
    }),
    { selector: (document) => document.id, maxLength: 8 },
  );
  const shuffled = documents.chain((list) =>
    fc.record({
      list: fc.constant(list),
      other: fc.shuffledSubarray(list, { minLength: list.length }),
      passing: fc.subarray(list),
    }),
  );

  it('changes no answer, with removals and replacements between', () => {
    fc.assert(
      fc.property(shuffled, text, ({ list, other, passing }, query) => {
        const plain = indexOf(...list);
        const busy = indexOf(...passing.map((document) => ({ ...document, descriptions: ['passing words'] })));
        for (const document of passing.slice(1)) busy.remove(document.id);
        for (const document of other) busy.upsert(document);
        expect(busy.search(query, 5)).toEqual(plain.search(query, 5));
        for (const document of list) busy.remove(document.id);
        expect(busy.stats).toEqual({ documents: 0, terms: 0, postings: 0, slots: 0 });
      }),
    );
  });

  it('keeps coverage over 0 and within 1, and scores best first', () => {
    fc.assert(
      fc.property(documents, text, (list, query) => {
        const hits = indexOf(...list).search(query, 10);
        for (const [at, hit] of hits.entries()) {
          expect(hit.score).toBeGreaterThanOrEqual(0);
          expect(hit.coverage).toBeGreaterThan(0);
          expect(hit.coverage).toBeLessThanOrEqual(1);
          expect(hit.score).toBeLessThanOrEqual(hits[at - 1]?.score ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });
});
