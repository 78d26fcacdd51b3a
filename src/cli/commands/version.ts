/** `agent-reach version`: of this program; `GET /healthz` tells that of a running service. */
import { createRequire } from 'node:module';
import { ConsoleOutput } from '../console-output.ts';
import type { Program } from '../program.ts';

/** The same two steps up from src/cli/commands and from dist/cli/commands. */
function packageVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('../../../package.json');
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}

export function addVersionCommand(program: Program): void {
  program
    .version(packageVersion(), '--version', 'print the version')
    .command('version')
    .description('print the version')
    .action((_options, command) => {
      const output = new ConsoleOutput({ isJson: command.optsWithGlobals().json === true });
      output.answer({ version: packageVersion(), node: process.version }, ({ version }) => output.line(version));
    });
}
