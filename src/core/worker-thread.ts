import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a worker thread from a module beside the caller: `spawnWorker('./x-worker', import.meta.url)`. Built code
 * runs the .js file as it is; from source (tests, benches) the thread first loads tsx, since a thread does not
 * inherit the loader that runs its parent.
 */
export function spawnWorker(specifier: string, parentUrl: string, options: WorkerOptions = {}): Worker {
  const isSource = parentUrl.endsWith('.ts');
  const url = new URL(`${specifier}${isSource ? '.ts' : '.js'}`, parentUrl);
  if (!isSource) return new Worker(url, options);
  // Resolved here: an eval'd thread looks packages up from the working directory, not from this file.
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const bootstrap = `import(${loader}).then(({ register }) => { register(); return import(${JSON.stringify(url.href)}); })`;
  return new Worker(bootstrap, { ...options, eval: true, execArgv: [] });
}
