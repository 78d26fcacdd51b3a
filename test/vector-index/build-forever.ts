import { IndexBuilder } from '../../src/vector-index/index.ts';
import { clusteredRows } from './sample-vectors.ts';

/** Builds version after version under the folder of its argument, printing each phase, until somebody kills it. */
const builder = new IndexBuilder({ dir: process.argv[2] ?? '' });
const rows = clusteredRows(400, 16, 8);
const about = { modelId: 'm', fingerprint: 'f', by: 'test', why: 'kill', embedded: 0, reused: 0, removed: 0 };
for (;;) {
  await builder.build({ rows, about }, ({ phase, done }) => {
    if (done === 0) process.stdout.write(`${phase}\n`);
  });
}
