import { isAgentReachError } from './errors.ts';

/** Each try lost to another instance that got its own through: this many in a row is not chance but overload. */
const MAX_TRIES = 8;

/**
 * Runs what decides on memory and stores the decision, again from the start where the store says that another
 * instance changed the same meanwhile. `task` must take nothing with it from one try to the next.
 */
export async function retryOnConflict<T>(task: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await task();
    } catch (error) {
      const isConflict = isAgentReachError(error) && error.code === 'AR_ERR_STORE_CONFLICT';
      if (!isConflict || tries === MAX_TRIES) throw error;
    }
  }
}
