/**
 * The built service with the hash embedder, which knows no model. Arguments: its configuration as JSON, and the
 * dimensions of its vectors, which make it another model. A message names a step: it kills itself right after that
 * step, a real kill -9 at a known place. The message `embedded` is answered with how many texts it embedded.
 */
import { compileConfig, startService } from '../../dist/app/index.js';
import { subscribe } from '../../dist/core/index.js';
import { HashEmbedder } from '../../dist/embedding/index.js';

const [config = '{}', dimensions = '384'] = process.argv.slice(2);
const embedder = new HashEmbedder({ dimensions: Number(dimensions) });
let fatalStep;
subscribe('step', ({ name }) => {
  if (name === fatalStep) process.kill(process.pid, 'SIGKILL');
});
process.on('message', (step) => {
  if (step === 'embedded') {
    process.send?.(embedder.embeddedTexts);
    return;
  }
  fatalStep = step;
  process.send?.('armed');
});
// A test that dies leaves nobody behind.
process.on('disconnect', () => process.exit());
const service = await startService(compileConfig(JSON.parse(config)), { embedder });
process.send?.(service.url);
