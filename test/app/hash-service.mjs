/**
 * The built service with the hash embedder, which knows no model. Argument: its configuration as JSON. A message
 * names a step: it kills itself right after that step, a real kill -9 at a known place.
 */
import { compileConfig, startService } from '../../dist/app/index.js';
import { subscribe } from '../../dist/core/index.js';
import { HashEmbedder } from '../../dist/embedding/index.js';

const [config = '{}'] = process.argv.slice(2);
let fatalStep;
subscribe('step', ({ name }) => {
  if (name === fatalStep) process.kill(process.pid, 'SIGKILL');
});
process.on('message', (step) => {
  fatalStep = step;
  process.send?.('armed');
});
// A test that dies leaves nobody behind.
process.on('disconnect', () => process.exit());
const service = await startService(compileConfig(JSON.parse(config)), { embedder: new HashEmbedder() });
process.send?.(service.url);
