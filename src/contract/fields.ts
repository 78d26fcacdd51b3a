/** Field types that several wire forms share; each limit is here once. */
import { z } from 'zod';
import { isWellFormedText } from '../core/index.ts';

/** A string that can be stored as UTF-8 and come back as it was. */
export const text = (maxLength: number, minLength = 0) =>
  z
    .string()
    .min(minLength)
    .max(maxLength)
    .refine(isWellFormedText, { message: 'holds a lone surrogate, which is not a character' });

// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
const CONTROL = /[\u0000-\u001f\u007f]/;

/** A one-line label for people. */
export const label = (maxLength: number) =>
  text(maxLength, 1).refine((value) => value.trim() !== '' && !CONTROL.test(value), {
    message: 'must be one line with at least one visible character',
  });

export const agentIdField = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, {
    message: 'must be 1-128 of A-Z a-z 0-9 . _ : - and start with a letter or digit',
  })
  .meta({ description: 'The id that an agent keeps over restarts.', example: 'weather-1' });

export const namespaceField = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, { message: 'must be 1-63 of a-z 0-9 _ - and start with a letter or digit' });

export const zoneField = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, { message: 'must be 1-63 of A-Z a-z 0-9 . _ -' })
  .meta({ description: 'What fails together: a host, a rack, a data centre.', example: 'hz-1' });

const keyField = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/, { message: 'must be 1-63 of A-Z a-z 0-9 . _ / -' });

/** Small string map, at most 64 entries. */
export const tagsField = z
  .record(keyField, text(256))
  .refine((tags) => Object.keys(tags).length <= 64, { message: 'at most 64 entries' });

export const MAX_METADATA_BYTES = 16_384;
export const metadataField = z
  .record(keyField, z.unknown())
  .refine((metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES, {
    message: `at most ${MAX_METADATA_BYTES} bytes as JSON`,
  });

/** A capability name as sent; the grammar itself is checked by the capability room, which can also suggest. */
export const capabilityNameField = text(256, 1).meta({
  description: 'domain.action.object, each segment [a-z][a-z0-9_]{0,62}',
  example: 'weather.query.city',
});

export const leaseIdField = z.string().min(1).max(128).meta({ example: 'lease_7m3k0c9w2t5x8b1q' });

/** Query-string numbers arrive as text: plain digits only, where `Number` would also take `0x10`, `1e2` and ` 1`. */
export const queryCount = (least: number, most: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value),
    z
      .int({ message: `must be a whole number from ${least} to ${most}, in plain digits` })
      .min(least)
      .max(most),
  );
export const pageLimitField = queryCount(1, 500).default(100);
export const cursorField = z.string().min(1).max(512);
