/** `agent-reach index golden`: lines of text that every index version must answer right. */
import type { GoldenLine, GoldenLineInput } from '../../contract/index.ts';
import { AgentReachError } from '../../core/index.ts';
import { isObject, readLines, readObjects } from '../input-file.ts';
import { type CommandGroup, refuseUnknownCommands, runCommand } from '../program.ts';

/** What stands for "nothing may be answered" on the command line. */
const NO_MATCH = 'no_match';

export function addGoldenCommands(index: CommandGroup): void {
  const golden = index.command('golden').description('the texts that every index version must answer right');

  golden
    .command('list', { isDefault: true })
    .description('list the golden lines')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const lines = await client.index.golden();
        output.answer(lines, () => {
          if (lines.length === 0) output.line('no golden lines');
          else {
            output.table(lines, [
              { head: 'ID', cell: ({ id }) => id },
              { head: 'TEXT', cell: ({ text }) => text, maxWidth: 60 },
              { head: 'CAPABILITY', cell: ({ capability }) => capability ?? NO_MATCH },
              { head: 'NAMESPACE', cell: ({ namespace }) => namespace },
            ]);
          }
        });
        return undefined;
      }),
    );

  golden
    .command('add')
    .description(`add a line; capability "${NO_MATCH}": nothing may be answered`)
    .argument('<text>')
    .argument('<capability>')
    .option('--id <id>', 'made from the text unless given')
    .option('--namespace <name>', 'default: default')
    .action((text, capability, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const line: GoldenLineInput = {
          text,
          capability: capability === NO_MATCH ? null : capability,
          ...(options.id === undefined ? {} : { id: options.id }),
          ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
        };
        const reply = await client.index.putGolden([line]);
        output.answer(reply, ({ added, items }) =>
          output.line(`${added === 1 ? 'added' : 'replaced'} ${items[0]?.id ?? ''}`),
        );
        return undefined;
      });
    });

  golden
    .command('remove')
    .description('remove a line')
    .argument('<id>')
    .action((id, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        await client.index.removeGolden(id);
        output.answer({ id, removed: true }, () => output.line(`removed ${id}`));
        return undefined;
      }),
    );

  addFileCommands(golden);
  refuseUnknownCommands(golden);
}

function addFileCommands(golden: CommandGroup): void {
  golden
    .command('import')
    .description('add or replace lines from a file: JSON lines (golden.jsonl), or a JSON or YAML list')
    .argument('<file>', '"-" reads standard input as JSON lines')
    .action((file, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const reply = await client.index.putGolden(await readGolden(file));
        output.answer(reply, ({ added, updated }) => output.line(`${added} added, ${updated} replaced`));
        return undefined;
      }),
    );

  golden
    .command('export')
    .description('write the lines as JSON lines, as import reads them')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const lines = await client.index.golden();
        output.answer(lines, () => {
          for (const line of lines) output.line(JSON.stringify(line satisfies GoldenLine));
        });
        return undefined;
      }),
    );
}

async function readGolden(file: string): Promise<GoldenLineInput[]> {
  if (/\.(json|ya?ml)$/.test(file)) {
    return (await readObjects(file, 'lines', 'golden line')) as unknown as GoldenLineInput[];
  }
  return readLines(file).map((text, i) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = undefined;
    }
    // What is wrong inside of it, the service says.
    if (isObject(value)) return value as unknown as GoldenLineInput;
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: `${file}: line ${i + 1} is not a JSON object` });
  });
}
