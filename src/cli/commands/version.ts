/** `agent-reach version`: of this program; `GET /healthz` tells that of a running service. */
import { PACKAGE_VERSION } from '../../core/index.ts';
import { ConsoleOutput } from '../console-output.ts';
import type { Program } from '../program.ts';

export function addVersionCommand(program: Program): void {
  program
    .version(PACKAGE_VERSION, '--version', 'print the version')
    .command('version')
    .description('print the version')
    .action((_options, command) => {
      const output = new ConsoleOutput({ isJson: command.optsWithGlobals().json === true });
      output.answer({ version: PACKAGE_VERSION, node: process.version }, ({ version }) => output.line(version));
    });
}
