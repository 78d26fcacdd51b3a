import type { GoldenLine, GoldenMiss, IndexFailure } from '../contract/index.ts';
import { AgentReachError, isAgentReachError, log } from '../core/index.ts';
import type { IndexSelfCheck, LayeredIndex, LoadedVersion } from '../vector-index/index.ts';
import type { CapabilityIndexer } from './capability-indexer.ts';
import { type GoldenOutcome, type GoldenSet, missText } from './golden-set.ts';
import type { HeadSet } from './relevance/phrase-heads.ts';
import type { Searchable } from './search-view.ts';

export type Answerer = (view: Searchable) => (line: GoldenLine) => Promise<string | null>;

export interface CandidateCheckOptions {
  readonly indexer: CapabilityIndexer;
  readonly vectors: LayeredIndex;
  readonly golden: GoldenSet;
  readonly answerer: Answerer;
}

/** A version that does not serve yet, and what was learnt for it. */
export interface VersionCandidate {
  readonly version: LoadedVersion;
  readonly heads?: HeadSet | undefined;
  /** Whether it says other things than are served. */
  readonly isHeld: boolean;
}

export interface CandidateFindings {
  readonly selfCheck: Partial<IndexSelfCheck>;
  readonly outcome: GoldenOutcome;
  /** Whether what was learnt may be used. */
  readonly usesHeads: boolean;
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

  /**
   * Heads for which a line would be answered wrong are left out, and the version is tried without them. Error:
   * AR_ERR_INDEX_SELF_CHECK that names the lines.
   */
  async run(candidate: VersionCandidate, onDone: (done: number, total: number) => void): Promise<CandidateFindings> {
    const { golden } = this.#options;
    const learnt = candidate.heads?.size ?? 0;
    const asked = await this.#ask(candidate, onDone);
    const isWorseForHeads = asked.broken.length > 0 && learnt > 0;
    const { heads: _heads, ...plain } = candidate;
    const { broken, outcome } = isWorseForHeads ? await this.#ask(plain, onDone) : asked;
    if (broken.length > 0) throw goldenFailure(broken);
    if (isWorseForHeads) {
      const lines = asked.broken.map(missText);
      log('warn', 'what was learnt from phrases is not used: golden lines are answered wrong with it', { lines });
    }
    return {
      selfCheck: {
        ...(golden.size === 0 ? {} : { golden: { right: outcome.right, lines: golden.size } }),
        ...(learnt === 0 ? {} : { heads: { learnt, used: !isWorseForHeads } }),
      },
      outcome,
      usesHeads: !isWorseForHeads,
    };
  }

  async #ask(
    candidate: VersionCandidate,
    onDone: (done: number, total: number) => void,
  ): Promise<{ readonly broken: readonly GoldenMiss[]; readonly outcome: GoldenOutcome }> {
    const { golden, answerer } = this.#options;
    if (golden.size === 0) return { broken: [], outcome: { right: 0, wrong: [] } };
    const view = await this.#viewOf(candidate);
    const outcome = await golden.ask(answerer(view), golden.list(), onDone);
    const broken = candidate.isHeld ? await this.#brokenIn(view, outcome) : await this.#brokenLive(candidate, outcome);
    return { broken, outcome };
  }

  async #viewOf({ version, heads }: VersionCandidate): Promise<Searchable> {
    return this.#options.indexer.liveOver(this.#options.vectors.withBase(version), heads);
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
  async #brokenLive(candidate: VersionCandidate, outcome: GoldenOutcome): Promise<readonly GoldenMiss[]> {
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
