import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeyValueAgentStore, LmdbStore } from '../../src/storage/index.ts';

const script = new URL('./commit-loop.ts', import.meta.url).pathname;

describe('kill -9', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-test-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  /** Lets a real process commit until it acknowledged `count`, kills it, and answers all that it acknowledged. */
  async function killAfter(count: number): Promise<string[]> {
    const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const acknowledged: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(line);
      if (acknowledged.length === count) {
        const owned = LmdbStore.open({ dataDir });
        await expect(owned).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
        child.kill('SIGKILL');
      }
    }
    if (child.signalCode === null && child.exitCode === null) await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
    return acknowledged;
  }

  test.each([1, 37, 211])('after %i acknowledgements loses none, tears none and frees the directory', async (count) => {
    const acknowledged = await killAfter(count);
    expect(acknowledged.length).toBeGreaterThanOrEqual(count);
    expect(readdirSync(dataDir).filter((name) => name.startsWith('owner-'))).toHaveLength(1);
    const store = await LmdbStore.open({ dataDir });
    const stored = new Set<string>((await new KeyValueAgentStore(store).load()).agents.map((record) => record.agentId));
    await store.close();
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    for (const id of stored) expect(stored.has(id.endsWith('-twin') ? id.slice(0, -5) : `${id}-twin`)).toBe(true);
    expect(readdirSync(dataDir)).toEqual(['store']);
  });
});
