import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { IndexBuilder, VersionStore } from '../../src/vector-index/index.ts';
import { clusteredRows, rowOf } from './sample-vectors.ts';

const SCRIPT = fileURLToPath(new URL('./build-forever.ts', import.meta.url));
const rows = clusteredRows(50, 16, 4);
const about = { modelId: 'm', fingerprint: 'f', by: 'test', why: 'test', embedded: 0, reused: 0, removed: 0 };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agent-reach-full-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('leaves the version before whole, and no half one, when a write meets the end of the disk', async () => {
  await new IndexBuilder({ dir }).build({ rows, about });
  // A limit of 8 KiB a file stands for the full disk: rows of 25 kB are cut in the middle.
  const command = `ulimit -f 8; exec "${process.execPath}" --import tsx "${SCRIPT}" "${dir}"`;
  const env = { ...process.env, TSX_DISABLE_CACHE: '1' };
  const child = spawn('bash', ['-c', command], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(errors).toMatch(/index versions cannot be written.*EFBIG/);
  expect(await readdir(join(dir, 'versions'))).toEqual(['v000001']);
  const { index } = await new VersionStore(dir).load('v000001');
  expect(index.search(rowOf(rows, 3), 1)[0]?.id).toBe('id-3');
});
