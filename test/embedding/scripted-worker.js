/**
 * A process that speaks worker-messages.ts without a model and does what its texts say: `crash`, `exit`, `hang`,
 * `refuse`. The settings' folder says how it loads: `no-load` fails, `slow-load` never ends. A vector holds the number
 * of its run and its place in it, so that tests see the batches. Plain JavaScript: it starts without a loader.
 */
const { folder, dimensions } = JSON.parse(process.argv[2]);

process.on('message', ({ runId, texts }) => {
  if (texts.includes('crash')) process.kill(process.pid, 'SIGSEGV');
  if (texts.includes('exit')) process.exit(3);
  while (texts.includes('hang'));
  if (texts.includes('refuse')) {
    process.send({ kind: 'refused', runId, reason: 'told to refuse' });
    return;
  }
  const vectors = new Float32Array(texts.length * dimensions);
  texts.forEach((_, place) => {
    vectors.set([runId, place], place * dimensions);
  });
  process.send({ kind: 'vectors', runId, vectors });
});
process.on('disconnect', () => process.exit());

if (folder === 'no-load') process.send({ kind: 'failed', reason: 'told not to load' });
else if (folder !== 'slow-load') process.send({ kind: 'ready', stagesMs: {} });
