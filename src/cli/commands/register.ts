/**
 * `agent-reach register FILE`: many registrations, a bounded number in flight. One that fails stops no other; when
 * nothing answers, the rest is not tried.
 */

import type { RegistrationReply } from '../../contract/index.ts';
import { AgentReachError, errorText, isAgentReachError } from '../../core/index.ts';
import type { ReachClient, RegistrationInput } from '../../sdk/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { EXIT } from '../exit-codes.ts';
import { readObjects } from '../input-file.ts';
import { type Program, runCommand, wholeNumber } from '../program.ts';
import { openProgressBar, type ProgressBar } from '../progress-bar.ts';

const IN_FLIGHT = 16;

export function addRegisterCommand(program: Program): void {
  program
    .command('register')
    .description('register the agents of a JSON or YAML file: one, a list, or {agents: [...]}')
    .argument('<file>', '"-" reads standard input')
    .option('--in-flight <count>', 'registrations sent at once', wholeNumber(1, 256), IN_FLIGHT)
    .action((file, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const registrations = await readObjects(file, 'agents', 'registration');
        refuseRepeats(file, registrations);
        const bar = await openProgressBar(output);
        const outcome = await registerAll(client, registrations, { inFlight: options.inFlight, bar });
        output.answer(outcome, () => showOutcome(output, outcome));
        return outcome.failed.length === 0 ? EXIT.ok : EXIT.failed;
      });
    });
}

/** Two entries of one agent would race for the last word. */
function refuseRepeats(file: string, registrations: readonly Record<string, unknown>[]): void {
  const places = new Map<string, number>();
  for (const [index, registration] of registrations.entries()) {
    const agentId = idOf(registration);
    const before = places.get(agentId);
    if (agentId !== '' && before !== undefined) {
      throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
        detail: `${file}: agentId ${agentId} is given twice, in registrations ${before + 1} and ${index + 1}`,
      });
    }
    places.set(agentId, index);
  }
}

/** The service also takes the older spelling. */
function idOf(registration: Record<string, unknown>): string {
  const id = registration.agentId ?? registration.agent_id;
  return typeof id === 'string' ? id : '';
}

interface Failure {
  /** Place in the file, from 1. */
  readonly place: number;
  readonly agentId: string;
  readonly code: string;
  readonly detail: string;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}

interface Outcome {
  readonly registered: readonly RegistrationReply[];
  readonly failed: readonly Failure[];
}

async function registerAll(
  client: ReachClient,
  registrations: readonly Record<string, unknown>[],
  { inFlight, bar }: { readonly inFlight: number; readonly bar: ProgressBar },
): Promise<Outcome> {
  const replies = new Map<number, RegistrationReply>();
  const failures = new Map<number, Failure>();
  const total = registrations.length;
  const waiting = registrations.entries();
  let outage: AgentReachError | undefined;

  const work = async (): Promise<void> => {
    for (const [index, registration] of waiting) {
      try {
        if (outage !== undefined) throw outage;
        // The file is sent as it is: the service checks it, older spellings too.
        replies.set(index, await client.agents.register(registration as RegistrationInput));
      } catch (error) {
        if (isAgentReachError(error) && error.code === 'AR_ERR_UNREACHABLE') outage = error;
        failures.set(index, failureOf(index, registration, error));
      }
      bar.update(replies.size + failures.size, total, 'registered');
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(inFlight, total) }, work));
  } finally {
    bar.end();
  }
  if (outage !== undefined && replies.size === 0) throw outage;
  return { registered: inOrder(replies), failed: inOrder(failures) };
}

function inOrder<Value>(values: ReadonlyMap<number, Value>): Value[] {
  return [...values].sort(([left], [right]) => left - right).map(([, value]) => value);
}

function failureOf(index: number, registration: Record<string, unknown>, error: unknown): Failure {
  return {
    place: index + 1,
    agentId: idOf(registration),
    code: isAgentReachError(error) ? error.code : 'AR_ERR_INTERNAL',
    detail: errorText(error),
    issues: isAgentReachError(error) ? error.issues : [],
  };
}

/** Of groups of warnings: a large file that repeats one mistake must not scroll everything else away. */
const SHOWN_GROUPS = 10;

interface WarningGroup {
  readonly code: string;
  readonly capability: string;
  readonly count: number;
  /** Of the first agent. */
  readonly message: string;
}

function groupsOf(registered: readonly RegistrationReply[]): WarningGroup[] {
  const groups = new Map<string, WarningGroup>();
  for (const { code, capability = '-', message } of registered.flatMap(({ warnings }) => warnings)) {
    const key = `${code} ${capability}`;
    const group = groups.get(key) ?? { code, capability, count: 0, message };
    groups.set(key, { ...group, count: group.count + 1 });
  }
  return [...groups.values()].sort((left, right) => right.count - left.count);
}

function showOutcome(output: ConsoleOutput, { registered, failed }: Outcome): void {
  showWarnings(output, groupsOf(registered));
  showFailed(output, failed);
  const total = registered.length + failed.length;
  const fresh = registered.filter(({ incarnation }) => incarnation === 1).length;
  output.line(`registered ${registered.length} of ${total} (${fresh} new), ${failed.length} failed`);
}

function showWarnings(output: ConsoleOutput, groups: readonly WarningGroup[]): void {
  if (groups.length === 0) return;
  output.heading('Warnings');
  output.table(groups.slice(0, SHOWN_GROUPS), [
    { head: 'CODE', cell: ({ code }) => code },
    { head: 'CAPABILITY', cell: ({ capability }) => capability },
    { head: 'COUNT', cell: ({ count }) => count, align: 'right' },
    { head: 'FIRST MESSAGE', cell: ({ message }) => message },
  ]);
  if (groups.length > SHOWN_GROUPS) output.line(`and ${groups.length - SHOWN_GROUPS} more (--json shows all)`);
  output.line();
}

function showFailed(output: ConsoleOutput, failed: readonly Failure[]): void {
  if (failed.length === 0) return;
  output.heading('Failed');
  output.table(failed, [
    { head: '#', cell: ({ place }) => place, align: 'right' },
    { head: 'AGENT', cell: ({ agentId }) => agentId || '-', maxWidth: 40 },
    { head: 'CODE', cell: ({ code }) => code },
    { head: 'DETAIL', cell: detailOf },
  ]);
  output.line();
}

function detailOf({ detail, issues }: Failure): string {
  const more = issues
    .filter(({ message }) => !detail.includes(message))
    .map(({ path, message }) => `${path}: ${message}`);
  return more.length === 0 ? detail : `${detail} ${more.join('; ')}`;
}
