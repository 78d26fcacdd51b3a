/** The built service as a real child process, for tests that kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '..', '..');

export interface ServiceProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | string | null>;
  kill(): Promise<void>;
}

export async function startServiceProcess(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const args = ['dist/cli/main.js', 'serve', '--host', '127.0.0.1', '--port', '0', '--data-dir', dataDir];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LOG_LEVEL: 'warn', ...env },
  });
  const exited = new Promise<number | string | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const url = /ready at (http:\/\/[\d.]+:\d+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      child,
      exited,
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  }
  throw new Error(`the service ended with ${await exited} before it was ready: ${errors}`);
}
