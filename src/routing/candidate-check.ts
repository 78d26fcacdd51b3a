import type { GoldenLine, GoldenMiss, IndexFailure } from '../contract/index.ts';
import { AgentReachError, isAgentReachError } from '../core/index.ts';
import type { IndexSelfCheck, LayeredIndex, LoadedVersion } from '../vector-index/index.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import { type GoldenOutcome, type GoldenSet, missText } from './golden-set.ts';
import type { Searchable } from './search-view.ts';

export type Answerer = (view: Searchable) => (line: GoldenLine) => Promise<string | null>;

export interface CandidateCheckOptions {
  readonly indexer: CapabilityIndexer;
  readonly vectors: LayeredIndex;
  readonly golden: GoldenSet;
  readonly answerer: Answerer;
}

/** How often a line must fall before it counts: registrations go on while it is asked. */
const ATTEMPTS = 3;
/** Lines looked at once more, and named. */
const MAX_NAMED = 20;

/**
 * Asks the golden set of a version that does not serve yet, through the real pipeline. A line that the serving
 * version answers right must not be answered wrong; one that is wrong already may stay so.
 */
export class CandidateCheck {
  readonly #options: CandidateCheckOptions;

  constructor(options: CandidateCheckOptions) {
    this.#options = options;
  }

  /** Error: AR_ERR_INDEX_SELF_CHECK that names the lines. `isHeld`: the candidate says other things than are served. */
  async run(
    candidate: LoadedVersion,
    isHeld: boolean,
    onDone: (done: number, total: number) => void,
  ): Promise<{ selfCheck: Partial<IndexSelfCheck>; outcome: GoldenOutcome }> {
    const { golden, answerer } = this.#options;
    if (golden.size === 0) return { selfCheck: {}, outcome: { right: 0, wrong: [] } };
    const view = await this.#viewOf(candidate);
    const outcome = await golden.ask(answerer(view), golden.list(), onDone);
    const broken = isHeld ? await this.#brokenIn(view, outcome) : await this.#brokenLive(candidate, outcome);
    if (broken.length > 0) throw goldenFailure(broken);
    return { selfCheck: { golden: { right: outcome.right, lines: golden.size } }, outcome };
  }

  async #viewOf(candidate: LoadedVersion): Promise<Searchable> {
    return this.#options.indexer.liveOver(this.#options.vectors.withBase(candidate));
  }

  /** Wrong in the view and right as served. */
  async #brokenIn(view: Searchable, { wrong }: GoldenOutcome): Promise<readonly GoldenMiss[]> {
    const { golden, answerer, indexer } = this.#options;
    const ids = new Set(wrong.slice(0, MAX_NAMED).map(({ id }) => id));
    const lines = golden.list().filter(({ id }) => ids.has(id));
    const served = await golden.ask(answerer(indexer), lines);
    const wrongToo = new Set(served.wrong.map(({ id }) => id));
    const now = await golden.ask(answerer(view), lines);
    return now.wrong.filter(({ id }) => !wrongToo.has(id));
  }

  /** Each time over a fresh view: what came while a line was asked is no fault of the candidate. */
  async #brokenLive(candidate: LoadedVersion, outcome: GoldenOutcome): Promise<readonly GoldenMiss[]> {
    let broken = outcome.wrong;
    for (let attempt = 0; attempt < ATTEMPTS && broken.length > 0; attempt++) {
      broken = await this.#brokenIn(await this.#viewOf(candidate), { right: 0, wrong: broken });
    }
    return broken;
  }
}

function goldenFailure(broken: readonly GoldenMiss[]): AgentReachError {
  return new AgentReachError('AR_ERR_INDEX_SELF_CHECK', {
    detail: `The new index answers ${broken.length} golden line${broken.length === 1 ? '' : 's'} wrong that the serving one answers right.`,
    issues: broken.map((miss) => ({ path: `golden.${miss.id}`, message: missText(miss) })),
  });
}

/** The check that an error came from, and the lines it names. */
export function failedCheck(error: unknown): Pick<IndexFailure, 'check' | 'lines'> {
  if (!isAgentReachError(error) || error.code !== 'AR_ERR_INDEX_SELF_CHECK') return { check: null, lines: [] };
  const lines = error.issues.map(({ message }) => message);
  const path = error.issues[0]?.path ?? '';
  if (path.startsWith('golden.')) return { check: 'golden', lines };
  return { check: path.startsWith('unreachable.') ? 'reachable' : 'recall', lines };
}
