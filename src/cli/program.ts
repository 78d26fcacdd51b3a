/** The root command: options that every command takes, help, and what a command is handed. */
import { Command, type CommanderError, Help, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { AgentReachError, nearestName } from '../core/index.ts';
import { DEFAULT_BASE_URL, ReachClient } from '../sdk/index.ts';
import { ConsoleOutput } from './console-output.ts';
import { EXIT, type ExitCode, exitCodeHelp } from './exit-codes.ts';

export interface GlobalOptions {
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly json?: true | undefined;
  readonly timeoutMs: number;
}

export interface CommandContext {
  readonly output: ConsoleOutput;
  readonly client: ReachClient;
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

export function share(text: string): number {
  const value = Number(text);
  if (!/^(0|1|0?\.\d+|1\.0+|0\.\d+)$/.test(text) || value > 1) {
    throw new InvalidArgumentError('must be a number from 0 to 1.');
  }
  return value;
}

/** Collects a repeatable `--tag key=value`. */
export function tagPair(text: string, before: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('must be key=value.');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

export const collected = (text: string, before: readonly string[] | undefined): string[] => [...(before ?? []), text];

function describedOption(option: Parameters<Help['optionDescription']>[0]): string {
  const description = new Help().optionDescription(option);
  return option.mandatory ? `${description} (required)` : description;
}

export function createProgram() {
  return new Command('agent-reach')
    .description('Says in milliseconds which live agent can best do what is asked, in Chinese or English.')
    .exitOverride()
    .showSuggestionAfterError()
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, optionDescription: describedOption })
    .addOption(new Option('--url <url>', 'address of the service').env('AGENT_REACH_URL').default(DEFAULT_BASE_URL))
    .addOption(new Option('--api-key <key>', 'API key, where the service asks for one').env('AGENT_REACH_API_KEY'))
    .addOption(
      new Option('--timeout-ms <ms>', 'longest wait for one answer, 0 waits for ever')
        .argParser(wholeNumber(0, 2_147_483_647))
        .default(30_000),
    )
    .option('--json', 'write one JSON value to stdout and nothing else')
    .addHelpText('afterAll', exitCodeHelp());
}

export type Program = ReturnType<typeof createProgram>;
/** A command that holds others, such as `rules`. */
export type CommandGroup = Command<[], Record<never, never>, ReturnType<Program['opts']>>;

/** What commander needs to know of commands here, whatever their types. */
interface AnyCommand {
  readonly commands: readonly AnyCommand[];
  name(): string;
  help(): never;
  error(message: string, options?: { readonly code: string }): never;
}

function refuseCommand(group: AnyCommand, word: string): never {
  const near = nearestName(
    word,
    group.commands.map((one) => one.name()),
  );
  group.error(`error: unknown command '${word}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`, {
    code: 'commander.unknownCommand',
  });
}

/** To be called once the commands are there: commander hands a word that names none to the default, `list`. */
export function refuseUnknownCommands(group: CommandGroup): void {
  const list = group.commands.find((one) => one.name() === 'list');
  list?.allowExcessArguments();
  group.hook('preAction', (_group, action) => {
    const [word] = action.args;
    if (action.name() !== 'list' || action.parent?.name() !== group.name() || word === undefined) return;
    if (group.args[0] === 'list') group.error(`error: list takes no argument, but got '${word}'`);
    refuseCommand(group, word);
  });
}

/** In place of commander's own, which answers an unknown name with the help of the program and no word on it. */
export function addHelpCommand(program: Program): void {
  program
    .command('help')
    .description('show what a command does and takes')
    .argument('[command...]')
    .action((words) => {
      let found: AnyCommand = program;
      for (const word of words) {
        const next: AnyCommand | undefined = found.commands.find((one) => one.name() === word);
        found = next ?? refuseCommand(found, word);
      }
      found.help();
    });
}

/** Runs the body of a command with its output and client; the body's number is the exit code. */
export async function runCommand(
  options: GlobalOptions,
  body: (context: CommandContext) => Promise<ExitCode | undefined>,
): Promise<void> {
  const output = new ConsoleOutput({ isJson: options.json === true });
  const client = new ReachClient({
    baseUrl: givenText(options.url),
    apiKey: givenText(options.apiKey),
    timeoutMs: options.timeoutMs,
  });
  // What takes no client works on files alone, and a TypeError of it is a fault of ours.
  let asksService = false;
  const context: CommandContext = {
    output,
    get client() {
      asksService = true;
      return client;
    },
  };
  try {
    process.exitCode = (await body(context)) ?? EXIT.ok;
  } catch (error) {
    throw asksService && error instanceof TypeError ? foreignAnswer(client, error) : error;
  }
}

/** Answers are not checked field by field: what is none of ours shows as a field that is not there. */
function foreignAnswer({ baseUrl }: ReachClient, cause: TypeError): AgentReachError {
  const detail = `what ${baseUrl} answered is no answer of an Agent-Reach service of this version`;
  return new AgentReachError('AR_ERR_FOREIGN_REPLY', { detail, cause });
}

/** An environment variable that is there but empty names nothing. */
const givenText = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** For `--json`: usage errors are told on stdout, as every other failure. */
export function silenceUsage(command: {
  configureOutput(output: object): unknown;
  readonly commands: readonly object[];
}): void {
  command.configureOutput({ writeErr: () => {}, outputError: () => {} });
  for (const one of command.commands) silenceUsage(one as typeof command);
}

export function usageError(error: CommanderError): AgentReachError {
  const detail = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return new AgentReachError('AR_ERR_INVALID_REQUEST', { detail, cause: error });
}
