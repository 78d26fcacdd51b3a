/** Rule files in a thread of their own: a file of thousands of rules takes seconds, and routes must not wait for it. */
import type { Rule } from '../contract/index.ts';
import { AgentReachError, errorText, spawnWorker } from '../core/index.ts';
import type { RuleFileAnswer, RuleFileJob } from './rule-file-worker.ts';

/** As `readRuleFile`. Errors: AR_ERR_INVALID_RULE; AR_ERR_INTERNAL where the thread dies. */
export async function readRuleFileInThread(yaml: string): Promise<unknown[]> {
  const answer = await inThread({ kind: 'read', yaml });
  if (answer.kind === 'rules') return answer.rules;
  throw unexpected(answer);
}

/** As `writeRuleFile`. Error: AR_ERR_INTERNAL where the thread dies. */
export async function writeRuleFileInThread(rules: readonly Rule[]): Promise<string> {
  const answer = await inThread({ kind: 'write', rules });
  if (answer.kind === 'yaml') return answer.yaml;
  throw unexpected(answer);
}

function unexpected(answer: RuleFileAnswer): AgentReachError {
  if (answer.kind !== 'refused') return new AgentReachError('AR_ERR_INTERNAL');
  const { code, detail, issues } = answer;
  return new AgentReachError(code, { detail, issues });
}

function inThread(job: RuleFileJob): Promise<RuleFileAnswer> {
  return new Promise((resolve, reject) => {
    const worker = spawnWorker('./rule-file-worker', import.meta.url, { workerData: job });
    worker.once('message', resolve);
    worker.once('error', (cause) =>
      reject(new AgentReachError('AR_ERR_INTERNAL', { detail: errorText(cause), cause })),
    );
    // After an answer it changes nothing.
    worker.once('exit', () =>
      reject(new AgentReachError('AR_ERR_INTERNAL', { detail: 'The rule file thread ended.' })),
    );
  });
}
