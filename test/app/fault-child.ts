/** The whole service with the hash embedder, which kills itself right after a named step; for tests of crashes. */
import { compileConfig, startService } from '../../src/app/index.ts';
import { subscribe } from '../../src/core/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';

const [dir = '', step = ''] = process.argv.slice(2);
let isArmed = false;
subscribe('step', ({ name }) => {
  if (isArmed && name === step) process.kill(process.pid, 'SIGKILL');
});
process.on('message', (message) => {
  if (message === 'arm') isArmed = true;
  process.send?.('armed');
});
const embedder = new HashEmbedder();
const config = compileConfig({
  http: { port: 0 },
  data: { dir },
  log: { level: 'silent' },
  index: { rebuildDebounceMs: 600_000, rebuildMaxWaitMs: 600_000 },
});
const service = await startService(config, { embedder });
process.send?.(service.url);
