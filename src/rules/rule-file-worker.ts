import { parentPort, workerData } from 'node:worker_threads';
import type { Rule } from '../contract/index.ts';
import { type ErrorCode, type ErrorIssue, isAgentReachError } from '../core/index.ts';
import { readRuleFile, writeRuleFile } from './rule-file.ts';

/** Thread that reads or writes one rule file and answers once. */
export type RuleFileJob =
  | { readonly kind: 'read'; readonly yaml: string }
  | { readonly kind: 'write'; readonly rules: readonly Rule[] };

export type RuleFileAnswer =
  | { readonly kind: 'rules'; readonly rules: unknown[] }
  | { readonly kind: 'yaml'; readonly yaml: string }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly detail: string;
      readonly issues: readonly ErrorIssue[];
    };

function answer(job: RuleFileJob): RuleFileAnswer {
  if (job.kind === 'write') return { kind: 'yaml', yaml: writeRuleFile(job.rules) };
  try {
    return { kind: 'rules', rules: readRuleFile(job.yaml) };
  } catch (error) {
    if (!isAgentReachError(error)) throw error;
    return { kind: 'refused', code: error.code, detail: error.message, issues: error.issues };
  }
}

parentPort?.postMessage(answer(workerData as RuleFileJob));
