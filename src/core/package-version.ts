/** The version of this package, read once; `unknown` where the manifest was not shipped along. */
import { createRequire } from 'node:module';

/** Two steps up from src/core and from dist/core alike. */
export const PACKAGE_VERSION: string = versionIn('../../package.json');

export function versionIn(manifestPath: string): string {
  try {
    const manifest: unknown = createRequire(import.meta.url)(manifestPath);
    if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  } catch {
    // No reason not to start.
  }
  return 'unknown';
}
