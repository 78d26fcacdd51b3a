/** `agent-reach strategies show | set | clear | reload | check`: how one of several fitting agents is picked. */
import type { EffectivePolicy, StrategiesReply, StrategyWarning } from '../../contract/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { readText } from '../input-file.ts';
import { type Program, runCommand } from '../program.ts';

/** Loaded when a file is to be read: the reader knows every strategy and factor of the service. */
async function readDocument(path: string) {
  const { readStrategiesFile } = await import('../../app/index.ts');
  return readStrategiesFile(path, readText(path));
}

const IF_VERSION = ['--if-version <version>', 'only if this is the version in force'] as const;

export function addStrategiesCommand(program: Program): void {
  const strategies = program.command('strategies').description('show, check and change how agents are picked');

  strategies
    .command('show', { isDefault: true })
    .description('show the strategies in force and where they come from')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const reply = await client.strategies.show();
        output.answer(reply, () => showStrategies(output, reply));
        return undefined;
      }),
    );

  strategies
    .command('check')
    .description('check a YAML or JSON file without a service')
    .argument('<file>', '"-" reads standard input')
    .action((file, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output }) => {
        const { document, warnings } = await readDocument(file);
        output.answer({ ok: true, document, warnings }, () => {
          output.line(`${file} is sound`);
          showWarnings(output, warnings);
        });
        return undefined;
      }),
    );

  strategies
    .command('set')
    .description('put a file in force over the API, before the file of the service; survives a restart')
    .argument('<file>', '"-" reads standard input')
    .option(...IF_VERSION)
    .action((file, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const { document } = await readDocument(file);
        const reply = await client.strategies.put(document, { expectedVersion: options.ifVersion });
        output.answer(reply, () => showChange(output, reply));
        return undefined;
      });
    });

  strategies
    .command('clear')
    .description('take away what was set, so that the file of the service, else its config, is in force')
    .option(...IF_VERSION)
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const reply = await client.strategies.remove({ expectedVersion: options.ifVersion });
        output.answer(reply, () => showChange(output, reply));
        return undefined;
      });
    });

  strategies
    .command('reload')
    .description('let the service read its strategies file again')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const reply = await client.strategies.reload();
        output.answer(reply, () => {
          output.line(`${reply.file?.path ?? 'the file'}: ${RESULT_TEXT[reply.result]}`);
          showChange(output, reply);
        });
        return undefined;
      }),
    );
}

const RESULT_TEXT = {
  applied: 'read, and in force',
  unchanged: 'as it was',
  shadowed: 'read, but what was set over the API goes before it (strategies clear)',
} as const;

function showChange(output: ConsoleOutput, reply: StrategiesReply): void {
  output.line(`strategies version ${reply.strategiesVersion} is in force (${reply.source})`);
  showWarnings(output, reply.warnings);
}

function showWarnings(output: ConsoleOutput, warnings: readonly StrategyWarning[]): void {
  for (const { path, message } of warnings) output.line(`warning: ${path}: ${message}`);
}

function showStrategies(output: ConsoleOutput, reply: StrategiesReply): void {
  const { file, api } = reply;
  output.pairs([
    ['version', reply.strategiesVersion],
    ['source', reply.source],
    ['file', file === null ? 'none' : file.path],
    ['file problem', file?.problem ?? undefined],
    ['set by', api === null ? undefined : `${api.setBy} at ${api.setAt}`],
    ['not in force', api?.problem ?? undefined],
  ]);
  showWarnings(output, reply.warnings);
  output.heading('In force');
  const rows = [['default', reply.effective.default] as const, ...Object.entries(reply.effective.capabilities)];
  output.table(rows, [
    { head: 'FOR', cell: ([pattern]) => pattern },
    { head: 'STRATEGIES', cell: ([, policy]) => policy.strategies.map(stepText).join(', ') },
    { head: 'WEIGHTS', cell: ([, policy]) => weightsText(policy) },
    { head: 'QUEUE LOAD', cell: ([, policy]) => policy.queueLoad, align: 'right' },
    { head: 'LATENCY BUDGET', cell: ([, policy]) => `${policy.latencyBudgetMs} ms`, align: 'right' },
    { head: 'MANY', cell: ([, policy]) => `${policy.manyCandidates} -> ${policy.leastLoaded}`, align: 'right' },
  ]);
}

function stepText({ name, ...parameters }: EffectivePolicy['strategies'][number]): string {
  const shown = Object.entries(parameters).map(([key, value]) => `${key} ${String(value)}`);
  return shown.length === 0 ? name : `${name} (${shown.join(', ')})`;
}

function weightsText({ weights }: EffectivePolicy): string {
  return Object.entries(weights)
    .filter(([, weight]) => weight > 0)
    .map(([name, weight]) => `${weight} ${name}`)
    .join(' + ');
}
