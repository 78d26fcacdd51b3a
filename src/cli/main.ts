#!/usr/bin/env node
/**
 * The `agent-reach` command. Modules of the service itself are loaded by `serve` and `config` alone, so that the
 * others start in a fraction of a second.
 */
import { CommanderError } from '@commander-js/extra-typings';
import { addAgentsCommand } from './commands/agents.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addCapabilitiesCommand } from './commands/capabilities.ts';
import { addConfigCommand } from './commands/config.ts';
import { addEvalCommand } from './commands/eval.ts';
import { addEventsCommand } from './commands/events.ts';
import { addFeedbackCommand } from './commands/feedback.ts';
import { addIndexCommand } from './commands/index-versions.ts';
import { addLintCommand } from './commands/lint.ts';
import { addRegisterCommand } from './commands/register.ts';
import { addRouteCommand } from './commands/route.ts';
import { addRulesCommand } from './commands/rules.ts';
import { addServeCommand } from './commands/serve.ts';
import { addStoreCommand } from './commands/store.ts';
import { addStrategiesCommand } from './commands/strategies.ts';
import { addVersionCommand } from './commands/version.ts';
import { ConsoleOutput } from './console-output.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { addHelpCommand, createProgram, silenceUsage, usageError } from './program.ts';

// `agent-reach ... | head` closes the pipe early, a terminal may close; commander writes before any output is made.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
  });
}

// Looked for here, since a command line that cannot be read has no options yet.
const words = process.argv.slice(2);
const isJson = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined).includes('--json');

const program = createProgram();
addServeCommand(program);
addRouteCommand(program);
addRegisterCommand(program);
addAgentsCommand(program);
addCapabilitiesCommand(program);
addRulesCommand(program);
addStrategiesCommand(program);
addAuditCommand(program);
addIndexCommand(program);
addEventsCommand(program);
addFeedbackCommand(program);
addEvalCommand(program);
addLintCommand(program);
addStoreCommand(program);
addConfigCommand(program);
addVersionCommand(program);
addHelpCommand(program);

const output = new ConsoleOutput({ isJson });
if (isJson) silenceUsage(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has written its text by now, unless told not to; asked-for help is no error.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.badInput;
    if (isJson && error.exitCode !== 0) output.error(usageError(error));
  } else {
    output.error(error);
    process.exitCode = exitCodeOf(error);
  }
}
