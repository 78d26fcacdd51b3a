/** Servers in processes of their own, so that they do not share an event loop with the client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '..');

export interface RunningChild {
  readonly url: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a command and waits for the first line of its output that holds an http address. */
async function start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<RunningChild> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    // The note that a stopping service writes to stderr is no finding.
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      process: child,
      async stop() {
        child.kill('SIGTERM');
        await exited;
      },
    };
  }
  throw new Error(`${args.join(' ')} ended before it served`);
}

/** The built service on a free port; without a data folder it gets one of its own, removed at the stop. */
export async function startBuiltService(
  env: Readonly<Record<string, string>> = {},
  dataDir?: string,
  nodeFlags: readonly string[] = [],
): Promise<RunningChild> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'agent-reach-bench-'));
  const child = await start([...nodeFlags, 'dist/cli/main.js', 'serve', '--port', '0', '--data-dir', folder], {
    LOG_LEVEL: 'error',
    ...env,
  });
  return {
    ...child,
    async stop() {
      await child.stop();
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function startReference(reply: string): Promise<RunningChild> {
  return start(['--import', 'tsx', 'bench/reference-server.ts', reply], {});
}
