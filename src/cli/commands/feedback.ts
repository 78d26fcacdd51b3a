/** `agent-reach feedback`: what callers say was meant, and an operator's decision on it. */
import { Option } from '@commander-js/extra-typings';
import type { Feedback } from '../../contract/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { oneByOne } from '../one-by-one.ts';
import { type CommandGroup, type GlobalOptions, type Program, runCommand } from '../program.ts';

/** A copy of the contract's enum, as in agents.ts. */
export const FEEDBACK_STATUSES = ['pending', 'approved', 'rejected'] as const;

export function addFeedbackCommand(program: Program): void {
  const feedback = program
    .command('feedback')
    .description('report, list, approve and reject what intents really meant');

  feedback
    .command('list', { isDefault: true })
    .description('list feedback, newest first')
    .addOption(new Option('--status <status>', 'with this status').choices(FEEDBACK_STATUSES))
    .option('--namespace <name>', 'of this namespace')
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const { status, namespace } = options;
        const found: Feedback[] = [];
        for await (const one of client.feedback.all({ status, namespace, limit: 500 })) found.push(one);
        output.answer(found, (rows) => showFeedback(output, rows));
        return undefined;
      });
    });

  feedback
    .command('report')
    .description('say what an intent really meant')
    .argument('<intent>')
    .argument('<capability>', '"none": nothing that is registered')
    .option('--namespace <name>', 'its namespace')
    .action((intent, capability, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const { namespace } = options;
        const correct = capability === 'none' ? null : capability;
        const filed = await client.feedback.report({ intent, correct, namespace });
        output.answer(filed, ({ id, reports }) =>
          output.line(`${id} waits for a decision (reported ${reports} times)`),
        );
        return undefined;
      });
    });

  addDeciding(feedback, 'approve', 'make the intents examples of their capabilities');
  addDeciding(feedback, 'reject', 'set feedback aside');
}

function addDeciding(feedback: CommandGroup, verb: 'approve' | 'reject', description: string): void {
  feedback
    .command(verb)
    .description(description)
    .argument('<id...>')
    .action((ids, _options, command) => decide(command.optsWithGlobals(), verb, ids));
}

function decide(options: GlobalOptions, verb: 'approve' | 'reject', ids: readonly string[]): Promise<void> {
  return runCommand(options, ({ output, client }) =>
    oneByOne(output, ids, {
      act: (id) => client.feedback[verb](id),
      show: (decided) => output.line(decisionOf(decided)),
    }),
  );
}

function decisionOf({ id, status, effect, correct, intent }: Feedback): string {
  switch (effect) {
    case 'example_added':
      return `${id} approved: "${intent}" is now an example of ${correct}`;
    case 'already_known':
      return `${id} approved: "${intent}" was an example of ${correct} already`;
    default:
      return `${id} ${status}`;
  }
}

function showFeedback(output: ConsoleOutput, rows: readonly Feedback[]): void {
  if (rows.length === 0) {
    output.line('no feedback');
    return;
  }
  output.table(rows, [
    { head: 'ID', cell: ({ id }) => id },
    { head: 'STATUS', cell: ({ status }) => status },
    { head: 'INTENT', cell: ({ intent }) => intent, maxWidth: 60 },
    { head: 'MEANT', cell: ({ correct }) => correct ?? 'nothing' },
    { head: 'ANSWERED', cell: ({ answered }) => answered ?? '-' },
    { head: 'REPORTS', cell: ({ reports }) => reports, align: 'right' },
    { head: 'BY', cell: ({ createdBy }) => createdBy },
    { head: 'NAMESPACE', cell: ({ namespace }) => namespace },
  ]);
}
