/** The built service with the hash embedder as a real child process: it has an event loop of its own, and can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StepName } from '../../src/core/index.ts';

const SCRIPT = fileURLToPath(new URL('./hash-service.mjs', import.meta.url));

export interface HashService {
  readonly url: string;
  readonly child: ChildProcess;
  /** The signal that ended it. */
  readonly died: Promise<unknown>;
  /** From now on it dies right after this step. */
  arm(step: StepName): Promise<void>;
  /** Texts that it embedded so far, intents among them. */
  embedded(): Promise<number>;
}

/** Other dimensions are another model. */
export async function startHashService(config: object, dimensions = 384): Promise<HashService> {
  const all = { http: { port: 0 }, log: { level: 'silent' }, ...config };
  const args = [SCRIPT, JSON.stringify(all), String(dimensions)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const died = once(child, 'exit').then(([, signal]) => signal as unknown);
  const failed = died.then((signal) => {
    throw new Error(`the service ended (${signal}) before it was ready`);
  });
  const [url] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => undefined);
  return {
    url: String(url),
    child,
    died,
    async arm(step) {
      child.send(step);
      await once(child, 'message');
    },
    async embedded() {
      child.send('embedded');
      const [count] = await once(child, 'message');
      return Number(count);
    },
  };
}
