import { expect, test } from 'vitest';
import { AgentReachError, retryOnConflict } from '../../src/core/index.ts';

const failing = (times: number, code: 'AR_ERR_STORE_CONFLICT' | 'AR_ERR_STORE_UNAVAILABLE') => {
  let tries = 0;
  return {
    tries: () => tries,
    task: async (): Promise<number> => {
      tries += 1;
      if (tries <= times) throw new AgentReachError(code);
      return tries;
    },
  };
};

test('decides again on conflict, eight times at most, and on nothing else', async () => {
  expect(await retryOnConflict(failing(7, 'AR_ERR_STORE_CONFLICT').task)).toBe(8);
  const hopeless = failing(100, 'AR_ERR_STORE_CONFLICT');
  await expect(retryOnConflict(hopeless.task)).rejects.toMatchObject({ code: 'AR_ERR_STORE_CONFLICT' });
  expect(hopeless.tries()).toBe(8);
  const other = failing(1, 'AR_ERR_STORE_UNAVAILABLE');
  await expect(retryOnConflict(other.task)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
  expect(other.tries()).toBe(1);
});
