/** Child process of full-disk.test.ts: commits, four at a time, until the disk was full ten times; prints what it saw. */
import { writeSync } from 'node:fs';
import { LmdbStore } from '../../src/storage/index.ts';

const [dataDir = ''] = process.argv.slice(2);
const store = await LmdbStore.open({ dataDir });
const codes = new Set<unknown>();
const acknowledged: string[] = [];
for (let round = 0, failed = 0; failed < 10 && round < 1_000; round++) {
  const keys = [0, 1, 2, 3].map((one) => `${round}-${one}`);
  const commits = keys.map((key) => store.commit([{ table: 'agents', key, value: new Uint8Array(8_000) }]));
  const results = await Promise.allSettled(commits);
  for (const [i, result] of results.entries()) {
    if (result.status === 'fulfilled') acknowledged.push(keys[i] ?? '');
    else codes.add(result.reason.code);
  }
  if (results.some((result) => result.status === 'rejected')) failed++;
}
const problem = store.problem;
const held = new Set((await store.entries('agents')).map(([key]) => key));
await store.close();
const lost = acknowledged.filter((key) => !held.has(key)).length;
writeSync(1, JSON.stringify({ problem, codes: [...codes], acknowledged: acknowledged.length, lost }));
