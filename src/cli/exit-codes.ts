/** What the exit status tells a script. One table: `--help` prints it, every command ends through it. */
import { type AgentReachError, type ErrorCode, isAgentReachError } from '../core/index.ts';

export const EXIT = { ok: 0, failed: 1, badInput: 2, unreachable: 3, noMatch: 4, queue: 5, multiIntent: 6 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [EXIT.ok, 'done'],
  [EXIT.failed, 'failed: the service refused or could not do it, or one of many failed'],
  [EXIT.badInput, 'bad input: flags, file, configuration or request'],
  [EXIT.unreachable, 'no answer: nothing listens, the deadline passed, or something else answered'],
  [EXIT.noMatch, 'route: no agent fits (decision no_match)'],
  [EXIT.queue, 'route: every fitting agent is busy, try later (decision queue)'],
  [EXIT.multiIntent, 'route: the request holds several intents (decision multi_intent)'],
];

const NO_ANSWER: ReadonlySet<ErrorCode> = new Set(['AR_ERR_UNREACHABLE', 'AR_ERR_DEADLINE', 'AR_ERR_FOREIGN_REPLY']);
/** Statuses that say "change what you send"; 401 to 409 say "not you" or "not now" about a sound request. */
const BAD_INPUT_STATUSES: ReadonlySet<number> = new Set([400, 413, 415]);

export function exitCodeOf(error: unknown): ExitCode {
  return isAgentReachError(error) ? codeOfFailure(error) : EXIT.failed;
}

function codeOfFailure(error: AgentReachError): ExitCode {
  if (NO_ANSWER.has(error.code)) return EXIT.unreachable;
  return BAD_INPUT_STATUSES.has(error.definition.status) ? EXIT.badInput : EXIT.failed;
}

export function exitCodeHelp(): string {
  return ['', 'Exit codes:', ...EXIT_MEANINGS.map(([code, meaning]) => `  ${code}  ${meaning}`)].join('\n');
}
