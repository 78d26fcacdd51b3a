import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACKAGE_VERSION } from '../../src/core/index.ts';
import { versionIn } from '../../src/core/package-version.ts';

test('is that of the manifest', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as object;
  expect(manifest).toMatchObject({ version: PACKAGE_VERSION });
});

test.each(['./no-such-file.json', '../../biome.json'])('is unknown where %s is no manifest', (path) => {
  expect(versionIn(path)).toBe('unknown');
});
