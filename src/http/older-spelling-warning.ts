/** Warnings for registrations that still use the first two generations of field names. */
import type { Registration, Warning } from '../contract/index.ts';
import { readOlderRegistration } from '../contract/index.ts';

export function olderSpellingWarnings(sent: unknown, read: Registration): Warning[] {
  const older = [...new Set(renamedFields(sent, readOlderRegistration(sent)))].map((name) => `"${name}"`);
  const warnings: Warning[] = [];
  if (older.length > 0) {
    warnings.push({
      code: 'older_field_names',
      message: `older field names were read: ${older.join(', ')}; see the OpenAPI document for today's`,
    });
  }
  if (read.ttl !== undefined) {
    warnings.push({ code: 'older_field_names', message: 'ttl read as expiresAt: seconds from this registration on' });
  }
  return warnings;
}

/** Keys that are gone after the rename, at any level; the values of free-form fields are the same object in both. */
function renamedFields(before: unknown, after: unknown): string[] {
  if (before === after || !isObject(before) || !isObject(after)) return [];
  return Object.keys(before).flatMap((key) =>
    Object.hasOwn(after, key) ? renamedFields(before[key], after[key]) : [key],
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
