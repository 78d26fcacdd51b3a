import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Starts a module as a process of its own with a message channel. From source (tests, benches) the process first
 * loads tsx, which built code does not need. Standard output stays ours: the command line prints JSON there.
 */
export function forkModule(module: URL, settings: unknown): ChildProcess {
  const loader = module.href.endsWith('.ts') ? ['--import', tsxLoader()] : [];
  return fork(fileURLToPath(module), [JSON.stringify(settings)], {
    execArgv: loader,
    // Keeps typed arrays what they are.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

function tsxLoader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}
