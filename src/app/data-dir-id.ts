import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names a data directory for good, so that what is about its files can be stored elsewhere. */
export function dataDirId(dataDir: string): string {
  const path = join(dataDir, 'id');
  try {
    const id = readFileSync(path, 'utf8').trim();
    if (/^[0-9a-f]{16}$/.test(id)) return id;
  } catch {
    // Not there yet.
  }
  const id = randomBytes(8).toString('hex');
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(path, `${id}\n`);
  return id;
}
