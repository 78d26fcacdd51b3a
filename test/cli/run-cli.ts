/** Runs the command as a child process, as a shell would: its streams are pipes, never a terminal. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** `npm test` has just built dist/, which is what users run and starts four times sooner than the source. */
const COMMAND =
  process.env.npm_lifecycle_event === 'test'
    ? [pathOf('../../dist/cli/main.js')]
    : ['--import', import.meta.resolve('tsx'), pathOf('../../src/cli/main.ts')];

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliRun {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

export function cliArguments(args: readonly string[]): string[] {
  return [...COMMAND, ...args];
}

/** Only what a process needs, so that settings of the developer's shell change nothing. */
export function cleanEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: process.env.HOME, ...more };
}

export function runCli(args: readonly string[], { env, input = '', cwd }: CliRun = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, cliArguments(args), { env: cleanEnvironment(env), cwd });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}
