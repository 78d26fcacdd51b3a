/** Child process of kill.test.ts: registers for ever, eight at a time, and prints each id once it was acknowledged. */
import { writeSync } from 'node:fs';
import { KeyValueAgentStore, LmdbStore } from '../../src/storage/index.ts';
import { sampleRecord } from './sample-record.ts';

const [dataDir = ''] = process.argv.slice(2);
const agents = new KeyValueAgentStore(await LmdbStore.open({ dataDir }));
let next = 0;

async function commitForEver(): Promise<never> {
  for (;;) {
    const id = `agent-${next++}`;
    // Two records of one commit: a torn one would show.
    await agents.commit({ putAgents: [sampleRecord(id), sampleRecord(`${id}-twin`)] });
    writeSync(1, `${id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, commitForEver));
