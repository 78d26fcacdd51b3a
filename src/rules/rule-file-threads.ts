/** Rule files in threads of their own: a file of thousands of rules takes seconds, and routes must not wait for it. */
import type { Rule } from '../contract/index.ts';
import { AgentReachError, type Clock, errorText, spawnWorker } from '../core/index.ts';
import type { RuleFileAnswer, RuleFileJob } from './rule-file-worker.ts';

/** A second one, so that a long file does not hold up a short one; more would take the cores from the routes. */
const MAX_RUNNING = 2;
/** Each holds its whole file in memory. */
const MAX_WAITING = 8;
/** 10,000 rules take a few seconds. */
const DEADLINE_MS = 60_000;

/** Errors of both, beside their own: AR_ERR_OVERLOADED, AR_ERR_DEADLINE, AR_ERR_INTERNAL where a thread dies. */
export class RuleFileThreads {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As `readRuleFile`. Error: AR_ERR_INVALID_RULE. */
  async read(yaml: string): Promise<unknown[]> {
    const answer = await this.#run({ kind: 'read', yaml });
    if (answer.kind === 'rules') return answer.rules;
    throw unexpected(answer);
  }

  /** As `writeRuleFile`. */
  async write(rules: readonly Rule[]): Promise<string> {
    const answer = await this.#run({ kind: 'write', rules });
    if (answer.kind === 'yaml') return answer.yaml;
    throw unexpected(answer);
  }

  async #run(job: RuleFileJob): Promise<RuleFileAnswer> {
    if (this.#running >= MAX_RUNNING) await this.#turn();
    else this.#running++;
    try {
      return await inThread(job, this.#clock);
    } finally {
      const next = this.#waiting.shift();
      // The next one takes over this one's place.
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new AgentReachError('AR_ERR_OVERLOADED', { detail: 'Many rule files are being read or written.' });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function unexpected(answer: RuleFileAnswer): AgentReachError {
  if (answer.kind !== 'refused') return new AgentReachError('AR_ERR_INTERNAL');
  const { code, detail, issues } = answer;
  return new AgentReachError(code, { detail, issues });
}

/** Settles when the thread is gone: it counts until then. */
async function inThread(job: RuleFileJob, clock: Clock): Promise<RuleFileAnswer> {
  const worker = spawnWorker('./rule-file-worker', import.meta.url, { workerData: job });
  // Nobody waits for a file once the service has stopped.
  worker.unref();
  const died = (detail: string, cause?: unknown): AgentReachError =>
    new AgentReachError('AR_ERR_INTERNAL', cause === undefined ? { detail } : { detail, cause });
  let cancelDeadline = (): void => undefined;
  try {
    return await new Promise((resolve, reject) => {
      cancelDeadline = clock.schedule(DEADLINE_MS, () =>
        reject(new AgentReachError('AR_ERR_DEADLINE', { detail: `The rule file took over ${DEADLINE_MS / 1_000} s.` })),
      );
      worker.once('message', resolve);
      worker.once('error', (cause) => reject(died(errorText(cause), cause)));
      // After an answer it changes nothing.
      worker.once('exit', () => reject(died('The rule file thread ended.')));
    });
  } finally {
    cancelDeadline();
    await worker.terminate();
  }
}
