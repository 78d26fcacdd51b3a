import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { RuleFileThreads } from '../../src/rules/rule-file-threads.ts';

describe('threads of rule files', () => {
  it('end what takes over a minute, and take the next file then', async () => {
    const clock = new ManualClock();
    const threads = new RuleFileThreads(clock);
    const stuck = [threads.read('[]'), threads.read('[]')].map((one) => one.catch((error: unknown) => error));
    const waiting = threads.read('- {id: a}');
    clock.advance(60_000);
    for (const outcome of await Promise.all(stuck)) expect(outcome).toMatchObject({ code: 'AR_ERR_DEADLINE' });
    expect(await waiting).toEqual([{ id: 'a' }]);
  });

  it('let eight files wait, refuse one more, and read all that they took', async () => {
    const threads = new RuleFileThreads(new ManualClock());
    const taken = Array.from({ length: 10 }, (_, i) => threads.read(`[${i}]`));
    await expect(threads.read('[]')).rejects.toMatchObject({ code: 'AR_ERR_OVERLOADED' });
    expect(await Promise.all(taken)).toEqual(Array.from({ length: 10 }, (_, i) => [i]));
    expect(await threads.read('[]')).toEqual([]);
  });
});
