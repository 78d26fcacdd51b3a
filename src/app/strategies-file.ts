/** The strategies file: read as a whole, and read again whenever it may have changed. */
import { readFile } from 'node:fs/promises';
import type { StrategiesDocument, StrategyWarning } from '../contract/index.ts';
import { type Clock, errorText, isAgentReachError, log } from '../core/index.ts';
import {
  MAX_STRATEGY_FILE_BYTES,
  readStrategyText,
  refusedFile,
  type StrategyBook,
  type StrategyFile,
  strategyWarnings,
} from '../routing/index.ts';
import { FileWatch } from './file-watch.ts';

export function strategyFileAt(path: string): StrategyFile {
  return {
    path,
    async read() {
      const bytes = await readFile(path);
      if (bytes.byteLength > MAX_STRATEGY_FILE_BYTES) {
        throw new Error(`${path} is larger than ${MAX_STRATEGY_FILE_BYTES} bytes`);
      }
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    },
  };
}

/** For a check without a service. Error: AR_ERR_INVALID_STRATEGIES, with the path. */
export function readStrategiesFile(
  path: string,
  text: string,
): { readonly document: StrategiesDocument; readonly warnings: StrategyWarning[] } {
  try {
    const document = readStrategyText(text);
    return { document, warnings: strategyWarnings(document) };
  } catch (error) {
    throw isAgentReachError(error) ? refusedFile(path, error) : error;
  }
}

/** Until the returned function is called. What a reload found is told by the book. */
export function followStrategiesFile(path: string, book: StrategyBook, clock: Clock): () => void {
  const watch = new FileWatch({
    path,
    clock,
    onChange: () => {
      book.reload('watch').catch((error: unknown) => {
        if (!isAgentReachError(error)) log('error', 'the strategies were not reloaded', { reason: errorText(error) });
      });
    },
  });
  watch.start();
  return () => watch.stop();
}
