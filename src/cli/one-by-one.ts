import type { ConsoleOutput } from './console-output.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';

/**
 * One call after the other; the first that fails ends it, since the rest would most often fail alike. What was done
 * until then stays done and is told all the same: with `--json` as `done` beside the error.
 */
export async function oneByOne<Item, Result>(
  output: ConsoleOutput,
  items: readonly Item[],
  { act, show }: { readonly act: (item: Item) => Promise<Result>; readonly show: (result: Result) => void },
): Promise<ExitCode> {
  const done: Result[] = [];
  try {
    for (const item of items) {
      const result = await act(item);
      done.push(result);
      if (!output.isJson) show(result);
    }
  } catch (error) {
    output.error(error, { done });
    return exitCodeOf(error);
  }
  output.answer(done, () => {});
  return EXIT.ok;
}
