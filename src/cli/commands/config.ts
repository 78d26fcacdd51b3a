/** `agent-reach config`: every setting as `serve` would have it, and where each value comes from. */
import { ConsoleOutput } from '../console-output.ts';
import type { Program } from '../program.ts';
import { addServiceFlags, configOf } from '../service-flags.ts';

export function addConfigCommand(program: Program): void {
  addServiceFlags(
    program.command('config').description('print every setting with its unit, value, default and source'),
  ).action(async (flags, command) => {
    const output = new ConsoleOutput({ isJson: command.optsWithGlobals().json === true });
    const settings = await configOf(flags);
    const { describeConfig } = await import('../../app/index.ts');
    output.answer(describeConfig(settings), (rows) =>
      output.table(rows, [
        { head: 'KEY', cell: ({ key }) => key },
        { head: 'VALUE', cell: ({ value }) => shownValue(value) },
        { head: 'UNIT', cell: ({ unit }) => unit },
        { head: 'DEFAULT', cell: ({ defaultValue }) => shownValue(defaultValue) },
        { head: 'SOURCE', cell: ({ source }) => source },
        { head: 'ENVIRONMENT', cell: ({ envName }) => envName },
        { head: 'ABOUT', cell: ({ about }) => about },
      ]),
    );
  });
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
