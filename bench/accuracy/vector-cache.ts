/**
 * Vectors of many texts, embedded once: what was embedded before is read from a file outside the repository, named
 * after the model's fingerprint. The file changes how long a run takes and nothing else.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { contentHash } from '../../src/core/index.ts';
import { type ModelRow, TransformersEmbedder } from '../../src/embedding/index.ts';

const HASH_CHARS = 32;
const CHUNK = 256;

export type VectorOf = (text: string) => Float32Array;

export async function embedAll(
  texts: Iterable<string>,
  model: ModelRow,
  folder: string | undefined,
): Promise<VectorOf> {
  const path = folder === undefined ? undefined : join(folder, `${model.fingerprint.slice(0, 16)}.vectors`);
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const vectors = path !== undefined && existsSync(path) ? readVectors(path, model.dimensions) : new Map();
  const missing = [...new Set(texts)].filter((text) => !vectors.has(contentHash(text)));
  if (missing.length > 0) {
    const file = path === undefined ? undefined : openSync(path, 'a');
    const embedder = new TransformersEmbedder({ model });
    await embedder.start();
    for (let start = 0; start < missing.length; start += CHUNK) {
      const chunk = missing.slice(start, start + CHUNK);
      // Models with prefixes need queries and documents apart; the bundled one has none.
      for (const [at, vector] of (await embedder.embed(chunk, { kind: 'document' })).entries()) {
        const hash = contentHash(chunk[at] ?? '');
        vectors.set(hash, vector);
        if (file !== undefined) {
          writeSync(
            file,
            Buffer.concat([
              Buffer.from(hash, 'latin1'),
              Buffer.from(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)),
            ]),
          );
        }
      }
      process.stderr.write(`\rembedded ${Math.min(start + CHUNK, missing.length)} of ${missing.length}   `);
    }
    process.stderr.write('\n');
    await embedder.stop();
    if (file !== undefined) closeSync(file);
  }
  return (text) => {
    const vector = vectors.get(contentHash(text));
    if (vector === undefined) throw new Error(`"${text}" was not embedded`);
    return vector;
  };
}

/** A record cut short by a killed run ends the file and is embedded again. */
function readVectors(path: string, dimensions: number): Map<string, Float32Array> {
  const bytes = readFileSync(path);
  const size = HASH_CHARS + 4 * dimensions;
  const vectors = new Map<string, Float32Array>();
  for (let at = 0; at + size <= bytes.length; at += size) {
    const numbers = new Float32Array(dimensions);
    new Uint8Array(numbers.buffer).set(bytes.subarray(at + HASH_CHARS, at + size));
    vectors.set(bytes.toString('latin1', at, at + HASH_CHARS), numbers);
  }
  return vectors;
}
