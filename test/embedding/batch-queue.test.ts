import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchQueue, type WaitingText } from '../../src/embedding/batch-queue.ts';
import type { TextKind } from '../../src/embedding/embedder.ts';

let nowMs = 0;
const makeQueue = (maxQueuedQueries = 100, maxQueuedDocuments = 1_000, cost = 10): BatchQueue =>
  new BatchQueue({ maxQueuedQueries, maxQueuedDocuments, maxBatchTexts: 16, now: () => nowMs, costOf: () => cost });
const textsOf = (batch: readonly WaitingText[]): string[] => batch.map((waiting) => waiting.text);
const numbered = (word: string, count: number): string[] => Array.from({ length: count }, (_, index) => word + index);
/** A vector that says which text it is for. */
const vectorOf = (text: string): Float32Array => Float32Array.of(text.length, text.charCodeAt(text.length - 1));
const runNext = (queue: BatchQueue): string[] => {
  const batch = queue.take();
  queue.resolve(batch, textsOf(batch).map(vectorOf), 1);
  return textsOf(batch);
};
/** Rejections of a test that does not look at them. */
const ignore = (vectors: readonly Promise<Float32Array>[]): void => {
  for (const vector of vectors) vector.catch(() => {});
};

describe('BatchQueue', () => {
  it('takes at most 16 texts a batch, first in first out', () => {
    const queue = makeQueue();
    const texts = numbered('q', 20);
    queue.offer(texts, 'query');
    expect(textsOf(queue.take())).toEqual(texts.slice(0, 16));
    expect(textsOf(queue.take())).toEqual(texts.slice(16));
    expect(queue.take()).toEqual([]);
  });

  it('ends a batch of documents at its token budget, with one text at least', () => {
    const queue = makeQueue(100, 1_000, 40);
    queue.offer(numbered('d', 3), 'document');
    expect(textsOf(queue.take())).toEqual(['d0', 'd1']);
    const huge = makeQueue(100, 1_000, 500);
    huge.offer(numbered('d', 2), 'document');
    expect(textsOf(huge.take())).toEqual(['d0']);
  });

  it('runs a query before 5,000 documents that came first', () => {
    const queue = makeQueue(100, 5_000);
    queue.offer(numbered('d', 5_000), 'document');
    runNext(queue);
    queue.offer(['q'], 'query');
    expect(runNext(queue)).toEqual(['q']);
  });

  it('lets documents run every fourth time under a flood of queries', () => {
    const queue = makeQueue();
    queue.offer(numbered('d', 3), 'document');
    const kinds: string[] = [];
    for (let run = 0; run < 8; run++) {
      queue.offer(numbered(`q${run}-`, 16), 'query');
      kinds.push(runNext(queue)[0]?.[0] ?? '');
      if (run === 3) queue.offer(numbered('d', 3), 'document');
    }
    expect(kinds.join('')).toBe('qqqdqqqd');
  });

  it('embeds a text once for all who wait for it, also while it runs', async () => {
    const queue = makeQueue();
    const first = queue.offer(['same', 'same'], 'query');
    const batch = queue.take();
    const second = queue.offer(['same'], 'query');
    expect(textsOf(batch)).toEqual(['same']);
    expect(queue.waiting).toBe(0);
    queue.resolve(batch, [vectorOf('same')], 1);
    expect(await Promise.all([...first, ...second])).toEqual([1, 2, 3].map(() => vectorOf('same')));
    expect(queue.isIdle).toBe(true);
    queue.offer(['same'], 'query');
    expect(queue.waiting).toBe(1);
  });

  it('moves a waiting document up when a query asks for its text', () => {
    const queue = makeQueue();
    queue.offer(numbered('d', 50), 'document');
    queue.offer(['d40'], 'query');
    expect(runNext(queue)).toEqual(['d40']);
    expect(queue.waiting).toBe(49);
  });

  it('takes all texts of a call or none, and says when to come back', () => {
    const queue = makeQueue(10, 20);
    queue.offer(numbered('q', 8), 'query');
    expect(() => queue.offer(['a', 'b', 'c'], 'query')).toThrow(
      expect.objectContaining({ code: 'AR_ERR_OVERLOADED', retryAfterMs: expect.any(Number) }),
    );
    expect(queue.waiting).toBe(8);
    queue.offer(['q0', 'q1', 'a', 'a', 'b'], 'query');
    expect(queue.waiting).toBe(10);
    // The lanes have bounds of their own.
    queue.offer(numbered('d', 20), 'document');
    expect(() => queue.offer(['one more'], 'document')).toThrow(/limit/);
    // A full lane of queries does not take a document over either.
    expect(() => queue.offer(['d3'], 'query')).toThrow(/limit/);
  });

  it('rejects what waits and what runs, and goes on with new texts', async () => {
    const queue = makeQueue();
    const vectors = queue.offer(numbered('q', 20), 'query');
    const batch = queue.take();
    queue.rejectAll(new Error('gone'));
    const outcomes = await Promise.allSettled(vectors);
    expect(outcomes.every((outcome) => outcome.status === 'rejected')).toBe(true);
    expect(queue.isIdle).toBe(true);
    const [again] = queue.offer(['q0'], 'query');
    // The lost batch comes in late: it must not answer the new text.
    queue.resolve(batch, textsOf(batch).map(vectorOf), 1);
    expect(queue.waiting).toBe(1);
    runNext(queue);
    expect(await again).toEqual(vectorOf('q0'));
  });

  it('answers every offered text with its own vector, whatever the order of calls', async () => {
    const step = fc.oneof(
      fc.record({
        texts: fc.array(fc.stringMatching(/^[a-e]{1,2}$/), { maxLength: 20 }),
        kind: fc.constantFrom<TextKind>('query', 'document'),
      }),
      fc.constant('run' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const queue = makeQueue(20, 20);
        const expected: string[] = [];
        const vectors: Promise<Float32Array>[] = [];
        for (const next of steps) {
          if (next === 'run') runNext(queue);
          else {
            const before = queue.waiting;
            try {
              vectors.push(...queue.offer(next.texts, next.kind));
              expected.push(...next.texts);
            } catch {
              expect(queue.waiting).toBe(before);
            }
          }
          expect(queue.waiting).toBeLessThanOrEqual(40);
        }
        while (queue.waiting > 0) runNext(queue);
        expect(queue.isIdle).toBe(true);
        expect(await Promise.all(vectors)).toEqual(expected.map(vectorOf));
      }),
    );
  });

  it('rejects a text whose vector is missing', async () => {
    const queue = makeQueue();
    const vectors = queue.offer(['a', 'b'], 'query');
    ignore(vectors);
    queue.resolve(queue.take(), [vectorOf('a')], 1);
    await expect(vectors[1]).rejects.toMatchObject({ code: 'AR_ERR_INTERNAL' });
  });

  it('gives up texts that nobody waits for any more, and runs those that somebody does', async () => {
    nowMs = 0;
    const queue = makeQueue();
    const late = queue.offer(['late', 'joined'], 'query', 50);
    const joined = queue.offer(['joined'], 'query', 500);
    ignore(late);
    nowMs = 60;
    expect(runNext(queue)).toEqual(['joined']);
    await expect(late[0]).rejects.toMatchObject({ code: 'AR_ERR_DEADLINE' });
    expect(await joined[0]).toEqual(vectorOf('joined'));
    expect(queue.isIdle).toBe(true);
  });

  it('refuses at once what would not be reached in time, and changes nothing', () => {
    nowMs = 0;
    const queue = makeQueue(1_000);
    ignore(queue.offer(numbered('q', 100), 'query', 10_000));
    const refused = expect.objectContaining({ code: 'AR_ERR_OVERLOADED' });
    expect(() => queue.offer(['hasty'], 'query', 5)).toThrow(refused);
    expect(queue.waiting).toBe(100);
    ignore(queue.offer(['patient'], 'query', 10_000));
    expect(queue.waiting).toBe(101);
  });
});
