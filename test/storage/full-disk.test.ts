import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const script = new URL('./full-disk-loop.ts', import.meta.url).pathname;

describe('a full disk', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-test-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  test('refuses commits, loses none of those before, and does not end the process', () => {
    // Files may grow to 2 MiB; without the trap the system would kill the writer instead of failing the write.
    const limited = `ulimit -f 4096; trap '' XFSZ; exec "$@"`;
    const command = [process.execPath, '--import', 'tsx', script, dataDir];
    const child = spawnSync('/bin/sh', ['-c', limited, 'sh', ...command], { encoding: 'utf8', timeout: 30_000 });
    expect({ status: child.status, signal: child.signal, report: child.stdout }).toMatchObject({
      status: 0,
      signal: null,
      report: expect.stringContaining('"lost":0'),
    });
    const report: unknown = JSON.parse(child.stdout);
    expect(report).toMatchObject({
      codes: ['AR_ERR_STORE_UNAVAILABLE'],
      acknowledged: expect.any(Number),
      problem: expect.stringContaining('lmdb could not commit'),
    });
  });
});
